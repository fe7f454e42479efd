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

# What a release page offers.
VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
DIST := dist
LINUX := $(LEVELS:%=lancet-$(VERSION)-linux-%)
WINDOWS := $(LEVELS:%=lancet-$(VERSION)-windows-%.exe)
ARM := lancet-$(VERSION)-linux-arm64
RELEASE := $(LINUX) $(WINDOWS) $(ARM)
# Shell completions and manual pages.
DOCS := lancet-$(VERSION)-completions-man.tar.gz

# rustc's profiles can only be read by the llvm-profdata of its own LLVM.
LLVM = $(shell rustc -vV | sed -n 's/^LLVM version: \([0-9]*\).*/\1/p')
PROFDATA = $(shell for tool in "$$(rustc --print sysroot)"/lib/rustlib/*/bin/llvm-profdata \
    llvm-profdata-$(LLVM) /usr/lib/llvm-$(LLVM)/bin/llvm-profdata llvm-profdata; do \
    if "$$tool" merge --version 2>/dev/null | grep -q 'LLVM version $(LLVM)\.'; then echo "$$tool"; break; fi; done)
PROFILE := $(CURDIR)/target/pgo-profile

.PHONY: all levels $(LEVELS) release $(RELEASE) $(DIST) pgo gate clean help
all:
	$(BUILD) target
	cp -f target/release/lancet$(SUFFIX) $(TARGET)

levels: $(LEVELS)

$(LEVELS):
	RUSTFLAGS="-C target-cpu=$@" $(BUILD) target/$@ --target $(HOST)
	cp -f target/$@/$(HOST)/release/lancet$(SUFFIX) lancet-$@$(SUFFIX)

# On Linux, with mingw-w64, gcc-aarch64-linux-gnu and rustup's targets. The programs need
# no libraries but the system's own: those for Linux none at all.
release: $(RELEASE)
	sed 's/VERSION/$(VERSION)/g' src/bin/lancet/download.txt > $(DIST)/README.txt
	cp -f LICENSE $(DIST)/
	.ci/third-party > $(DIST)/THIRD-PARTY.txt
	$(DIST)/$(firstword $(LINUX)) generate $(DIST)
	tar -C $(DIST) -czf $(DIST)/$(DOCS) completions man
	rm -r $(DIST)/completions $(DIST)/man
	cd $(DIST) && sha256sum $(RELEASE) $(DOCS) > SHA256SUMS

# Nothing of an earlier release stays.
$(RELEASE): | $(DIST)
$(DIST):
	rm -rf $@
	mkdir $@

# $(call build,target,processor): leaves $(DIST)/$@.
define build
	RUSTFLAGS="-C target-cpu=$(2) -C target-feature=+crt-static" $(BUILD) target/$(2) --target $(1)
	cp -f target/$(2)/$(1)/release/lancet$(suffix $(filter %.exe,$@)) $(DIST)/$@
endef

$(LINUX): lancet-$(VERSION)-linux-x86-64-%:
	$(call build,x86_64-unknown-linux-gnu,x86-64-$*)

$(WINDOWS): lancet-$(VERSION)-windows-x86-64-%.exe:
	$(call build,x86_64-pc-windows-gnu,x86-64-$*)

$(ARM): export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER := aarch64-linux-gnu-gcc
$(ARM):
	$(call build,aarch64-unknown-linux-gnu,generic)

# Built twice: the first binary records which way branches go, at the benchmark and at
# work of other kinds: what never ran would be built small and slow.
pgo:
	@test -n "$(PROFDATA)" || { \
	    echo "no llvm-profdata for LLVM $(LLVM): 'rustup component add llvm-tools', or your system's package llvm-$(LLVM)" >&2; \
	    exit 1; }
	rm -rf $(PROFILE)
	RUSTFLAGS="-C target-cpu=$(CPU) -C profile-generate=$(PROFILE)" $(BUILD) target/pgo-record
	for work in bench 'perft 6' 'perft 5 --through search'; do \
	    target/pgo-record/release/lancet$(SUFFIX) $$work || exit; done
	"$(PROFDATA)" merge -o $(PROFILE)/merged.profdata $(PROFILE)
	RUSTFLAGS="-C target-cpu=$(CPU) -C profile-use=$(PROFILE)/merged.profdata" $(BUILD) target/pgo
	cp -f target/pgo/release/lancet$(SUFFIX) $(TARGET)

gate:
	tests/gate.sh

clean:
	cargo clean --target-dir target
	rm -f $(TARGET) $(LEVELS:%=lancet-%$(SUFFIX))
	rm -rf $(DIST)

help:
	@echo "make                   ./$(TARGET), for this machine"
	@echo "make EXE=x EVALFILE=y  ./x with the network y built in"
	@echo "make x86-64-v3         ./lancet-x86-64-v3 for other machines; also -v2, -v4, and 'levels' for all three"
	@echo "make pgo [CPU=...]     ./$(TARGET), profile-guided: needs rustup's component llvm-tools"
	@echo "make release           ./$(DIST): programs for Linux, Windows and ARM, completions, man pages, checksums"
	@echo "make gate              what a release must pass: two and a half hours"
	@echo "make clean             remove what was built"
