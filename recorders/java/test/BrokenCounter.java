import java.util.concurrent.ArrayBlockingQueue;

/** A counter that loses increments, and a queue whose methods wait. */
public final class BrokenCounter {
    private final int limit;
    private volatile int count;
    private final ArrayBlockingQueue<Object> queue = new ArrayBlockingQueue<>(1);

    public BrokenCounter(int limit) {
        this.limit = limit;
    }

    public int increment() {
        int old = count;
        Thread.yield();
        if (old == limit) {
            throw new IllegalStateException("the limit is reached");
        }
        count = old + 1;
        return old + 1;
    }

    public int get() {
        return count;
    }

    public void put(Object value) throws InterruptedException {
        queue.put(value);
    }

    public Object take() throws InterruptedException {
        return queue.take();
    }

    @Override
    public String toString() {
        return count + " " + queue;
    }
}
