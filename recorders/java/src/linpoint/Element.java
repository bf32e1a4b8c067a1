package linpoint;

/** An integer that does a step whenever a collection looks at it, so that other threads come in between. */
final class Element implements Comparable<Element> {
    private final int value;
    private final Runnable step;

    Element(int value, Runnable step) {
        this.value = value;
        this.step = step;
    }

    int value() {
        return value;
    }

    @Override
    public boolean equals(Object other) {
        step.run();
        return other instanceof Element element && element.value == value;
    }

    @Override
    public int hashCode() {
        step.run();
        return value;
    }

    @Override
    public int compareTo(Element other) {
        step.run();
        return Integer.compare(value, other.value);
    }

    @Override
    public String toString() {
        step.run();
        return String.valueOf(value);
    }
}
