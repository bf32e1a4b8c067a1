use linpoint_test::sync::Mutex;
use std::collections::VecDeque;

#[derive(Default)]
struct MyQueue(Mutex<VecDeque<u8>>);

impl MyQueue {
    fn add(&self, value: u8) {
        self.0.lock().unwrap().push_back(value);
    }
    fn poll(&self) -> Option<u8> {
        self.0.lock().unwrap().pop_front()
    }
}

#[test]
fn model_checking() {
    linpoint_test::object(MyQueue::default)
        .op("add", [1, 2, 3], |queue, value| queue.add(value))
        .op0("poll", MyQueue::poll)
        .random(2, 2, 3)
        .run();
}

#[test]
fn stress() {
    linpoint_test::stress(MyQueue::default)
        .op(
            "enq",
            linpoint_test::fresh,
            |queue: &MyQueue, value: i64| queue.add(value as u8),
        )
        .op0("deq", |queue: &MyQueue| queue.poll().map(i64::from))
        .ops(20)
        .object_type("queue")
        .runs(20)
        .run();
}
