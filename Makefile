# For OpenBench: `make -j EXE=<name> [EVALFILE=<path>]` leaves ./<name> here.
# People need no make: `cargo build --release`.

EXE := lancet
EVALFILE :=

ifeq ($(OS),Windows_NT)
    SUFFIX := .exe
endif

# The name may come with or without its suffix.
TARGET := $(patsubst %$(SUFFIX),%,$(EXE))$(SUFFIX)

# A network other than the one that comes with the sources.
ifneq ($(EVALFILE),)
    export EVALFILE
endif

.PHONY: all clean
all:
	cargo build --release --locked --target-dir target --bin lancet
	cp -f target/release/lancet$(SUFFIX) $(TARGET)

clean:
	cargo clean --target-dir target
	rm -f $(TARGET)
