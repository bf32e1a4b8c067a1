use linpoint_test::sync::{Arc, Mutex};
use linpoint_test::thread;

#[test]
fn an_increment_is_not_lost() {
    linpoint_test::model(|| {
        let count = Arc::new(Mutex::new(0));
        let other = Arc::clone(&count);
        let thread = thread::spawn(move || *other.lock().unwrap() += 1);
        *count.lock().unwrap() += 1;
        thread.join().unwrap();
        assert_eq!(*count.lock().unwrap(), 2);
    });
}
