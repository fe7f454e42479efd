# For OpenBench: `make -j EXE=<name> [EVALFILE=<path>]` leaves ./<name> here.
# People need no make: `cargo build --release`. `make help` lists the rest.

EXE := lancet
EVALFILE ?=
# What the profile-guided build is for: this machine, or one of the levels.
CPU := native

ifeq ($(OS),Windows_NT)
    SUFFIX := .exe
endif

# The name may come with or without its suffix.
TARGET := $(patsubst %$(SUFFIX),%,$(EXE))$(SUFFIX)

# A network other than the one that comes with the sources.
ifneq ($(EVALFILE),)
    export EVALFILE
endif

# Instruction sets: v2 for machines since 2009, v3 since 2013, v4 with AVX-512.
LEVELS := x86-64-v2 x86-64-v3 x86-64-v4

CARGO := cargo
BUILD = $(CARGO) build --release --locked --bin lancet --target-dir

# With a target named, what runs while building is compiled for this machine, whatever
# the program is compiled for.
HOST = $(shell rustc -vV | sed -n 's/^host: //p')

.PHONY: all levels $(LEVELS) release pgo gate clean help
all:
	$(BUILD) target
	cp -f target/release/lancet$(SUFFIX) $(TARGET)

levels: $(LEVELS)

$(LEVELS):
	RUSTFLAGS="-C target-cpu=$@" $(BUILD) target/$@ --target $(HOST)
	cp -f target/$@/$(HOST)/release/lancet$(SUFFIX) lancet-$@$(SUFFIX)

release:
	.ci/release

pgo:
	.ci/guided $(HOST) "-C target-cpu=$(CPU)" $(TARGET)

gate:
	tests/gate.sh

clean:
	cargo clean --target-dir target
	rm -f $(TARGET) $(LEVELS:%=lancet-%$(SUFFIX))
	rm -rf dist

help:
	@echo "make                   ./$(TARGET), for this machine"
	@echo "make EXE=x EVALFILE=y  ./x with the network y built in"
	@echo "make x86-64-v3         ./lancet-x86-64-v3 for other machines; also -v2, -v4, and 'levels' for all three"
	@echo "make pgo [CPU=...]     ./$(TARGET), profile-guided: needs rustup's component llvm-tools"
	@echo "make release           ./dist: programs for Linux, Windows and ARM, with checksums; on macOS, for macOS"
	@echo "make gate              what a release must pass: two and a half hours"
	@echo "make clean             remove what was built"
