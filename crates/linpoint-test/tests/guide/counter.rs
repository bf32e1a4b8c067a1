use linpoint_test::sync::Mutex;

#[derive(Default)]
struct Counter(Mutex<u64>);

impl Counter {
    fn add(&self) -> u64 {
        let mut count = self.0.lock().unwrap();
        *count += 1;
        *count
    }
    fn get(&self) -> u64 {
        *self.0.lock().unwrap()
    }
}

#[test]
fn the_counter_is_linearizable() {
    linpoint_test::object(Counter::default)
        .op0("add", Counter::add)
        .op0("get", Counter::get)
        .matrix([["add", "get"], ["add", "get"]])
        .run();
}
