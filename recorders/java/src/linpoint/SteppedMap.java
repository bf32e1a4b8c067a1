package linpoint;

import java.util.AbstractSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/** A map that does a step whenever it is asked for an entry. */
final class SteppedMap extends LinkedHashMap<Object, Object> {
    private static final long serialVersionUID = 1;
    private final transient Runnable step;

    SteppedMap(Runnable step) {
        this.step = step;
    }

    @Override
    public Set<Map.Entry<Object, Object>> entrySet() {
        Set<Map.Entry<Object, Object>> entries = super.entrySet();
        return new AbstractSet<>() {
            @Override
            public Iterator<Map.Entry<Object, Object>> iterator() {
                return SteppedList.stepping(entries.iterator(), step);
            }

            @Override
            public int size() {
                return entries.size();
            }
        };
    }
}
