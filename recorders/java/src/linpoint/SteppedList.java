package linpoint;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/** A list that does a step whenever it is asked for an element. */
final class SteppedList extends ArrayList<Object> {
    private static final long serialVersionUID = 1;
    private final transient Runnable step;

    SteppedList(List<?> items, Runnable step) {
        super(items);
        this.step = step;
    }

    @Override
    public Iterator<Object> iterator() {
        return stepping(super.iterator(), step);
    }

    @Override
    public boolean contains(Object element) {
        step.run();
        return super.contains(element);
    }

    /** An iterator that does a step before each element. */
    static <T> Iterator<T> stepping(Iterator<T> elements, Runnable step) {
        return new Iterator<T>() {
            @Override
            public boolean hasNext() {
                return elements.hasNext();
            }

            @Override
            public T next() {
                step.run();
                return elements.next();
            }
        };
    }
}
