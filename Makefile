# OpenBench builds the engine with `make -j EXE=<name> [EVALFILE=<path>]`, which writes ./<name>.
# EVALFILE names a network to build in instead of the one in the repository; make passes it on to
# build.rs. `cargo build --release` also builds the engine, without make. `make help` lists all
# targets.

EXE := lancet
# Processor for `make pgo`: `native` for this machine, or one of LEVELS below.
CPU := native

ifeq ($(OS),Windows_NT)
    SUFFIX := .exe
endif

# EXE may be given with or without the suffix.
TARGET := $(patsubst %$(SUFFIX),%,$(EXE))$(SUFFIX)

# Levels of x86-64: v2 for machines since 2009, v3 since 2013, v4 with AVX-512.
LEVELS := x86-64-v2 x86-64-v3 x86-64-v4

CARGO := cargo
BUILD = $(CARGO) build --release --locked --bin lancet --target-dir

# With `--target`, Cargo does not apply RUSTFLAGS to build scripts. They can then run on this
# machine, whatever processor the program is compiled for.
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
	$(CARGO) clean --target-dir target
	rm -f $(TARGET) $(LEVELS:%=lancet-%$(SUFFIX))
	rm -rf dist

help:
	@echo "make                   ./$(TARGET), for this machine"
	@echo "make EXE=x EVALFILE=y  ./x with the network y built in"
	@echo "make x86-64-v3         ./lancet-x86-64-v3, for other machines; also x86-64-v2 and x86-64-v4"
	@echo "make levels            all three of them"
	@echo "make pgo [CPU=...]     ./$(TARGET), profile-guided; needs llvm-profdata (rustup component llvm-tools)"
	@echo "make release           ./dist: archives for Linux (x86-64, ARM) and Windows; on a Mac, for macOS"
	@echo "make gate              run all tests that a release must pass: two and a half hours"
	@echo "make clean             remove the files that these targets build"
