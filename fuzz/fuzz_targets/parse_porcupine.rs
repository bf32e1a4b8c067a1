#![no_main]

#[allow(dead_code, reason = "each target uses its own part")]
#[path = "../../crates/linpoint/tests/suite/fuzz_bodies.rs"]
mod fuzz_bodies;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz_bodies::read_and_write(
    linpoint::format::Format::Porcupine,
    bytes
));
