package linpoint;

import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Enumeration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.stream.BaseStream;

/**
 * How histories write what a call returned.
 *
 * Arrays, iterators, enumerations and streams are read to their end, and views such as {@code keySet()} are copied, so an
 * answer must be made before the call counts as returned. A set or map without an order of its own is
 * sorted. The answer of a call that throws is the full name of the exception.
 */
public enum Answers {
    /** As JSON: null, truth values and numbers as such, collections as lists. */
    JSON,
    /**
     * As the texts of Violat, which the types of {@code java.util.concurrent} in linpoint take: {@code "true"},
     * {@code "[1,2]"} of arrays and iterators, {@code "[1, 2]"} and <code>"{1=2}"</code> of collections and maps. Strings
     * within such a text are quoted.
     */
    TEXT;

    /** Returns the answer of a call that returned this result. */
    Json.Raw returned(Object result) {
        return returned(result, () -> {});
    }

    /** Returns the same, with a step before each element that is read. */
    Json.Raw returned(Object result, Runnable step) {
        if (this == JSON) {
            return new Json.Raw(Json.text(plain(result, step)));
        }
        return new Json.Raw(Json.quoted(result instanceof String string ? string : listing(result, step)));
    }

    /** Returns the answer of a void method that returned. */
    static Json.Raw nothing() {
        return new Json.Raw("null");
    }

    /** Returns the answer of a call that threw. */
    static Json.Raw threw(Throwable thrown) {
        return new Json.Raw(Json.quoted(thrown.getClass().getName()));
    }

    /** The value with lists for everything that has elements. */
    private static Object plain(Object value, Runnable step) {
        if (value instanceof Element element) {
            return element.value();
        }
        if (value instanceof Optional<?> optional) {
            return plain(optional.orElse(null), step);
        }
        if (value instanceof Map<?, ?> map) {
            Map<Object, Object> copy = new LinkedHashMap<>();
            for (Object each : entries(map, step)) {
                Map.Entry<?, ?> entry = (Map.Entry<?, ?>) each;
                copy.put(plain(entry.getKey(), step), plain(entry.getValue(), step));
            }
            return copy;
        }
        if (value instanceof Map.Entry<?, ?> entry) {
            List<Object> pair = new ArrayList<>();
            pair.add(plain(entry.getKey(), step));
            pair.add(plain(entry.getValue(), step));
            return pair;
        }
        List<Object> elements = elements(value, step);
        if (elements == null) {
            return value;
        }
        elements.replaceAll(element -> plain(element, step));
        return elements;
    }

    /** The value as Java prints it, with the marks of Violat. */
    private static String listing(Object value, Runnable step) {
        if (value instanceof Map<?, ?> map) {
            return "{" + joined(entries(map, step), ", ", step) + "}";
        }
        if (value instanceof Map.Entry<?, ?> entry) {
            return listing(entry.getKey(), step) + "=" + listing(entry.getValue(), step);
        }
        if (value instanceof String string) {
            return Json.quoted(string);
        }
        List<Object> elements = elements(value, step);
        if (elements == null) {
            return String.valueOf(value);
        }
        return "[" + joined(elements, value instanceof Collection<?> ? ", " : ",", step) + "]";
    }

    private static String joined(List<Object> elements, String separator, Runnable step) {
        return String.join(separator, elements.stream().map(element -> listing(element, step)).toList());
    }

    /** A copy of the elements, or null if the value has none. */
    private static List<Object> elements(Object value, Runnable step) {
        List<Object> elements = new ArrayList<>();
        if (value instanceof BaseStream<?, ?> stream) {
            return elements(stream.iterator(), step);
        } else if (value instanceof Iterator<?> iterator) {
            readAll(iterator, elements, step);
        } else if (value instanceof Collection<?> items) {
            readAll(items.iterator(), elements, step);
            if (items instanceof Set<?> && !(items instanceof SortedSet<?>) && !(items instanceof LinkedHashSet<?>)) {
                elements.sort(NATURAL);
            }
        } else if (value instanceof Enumeration<?> enumeration) {
            readAll(enumeration.asIterator(), elements, step);
        } else if (value != null && value.getClass().isArray()) {
            for (int i = 0; i < Array.getLength(value); i++) {
                elements.add(Array.get(value, i));
            }
        } else {
            return null;
        }
        return elements;
    }

    private static void readAll(Iterator<?> from, List<Object> to, Runnable step) {
        while (from.hasNext()) {
            step.run();
            to.add(from.next());
        }
    }

    /** A copy of the entries, in the order of the map if it has one of its own. */
    private static List<Object> entries(Map<?, ?> map, Runnable step) {
        List<Object> entries = new ArrayList<>();
        readAll(map.entrySet().iterator(), entries, step);
        if (!(map instanceof SortedMap<?, ?>) && !(map instanceof LinkedHashMap<?, ?>)) {
            entries.sort(NATURAL);
        }
        return entries;
    }

    /** Entries by their keys; what cannot be compared, by its text. */
    private static final Comparator<Object> NATURAL = (a, b) -> {
        Object left = a instanceof Map.Entry<?, ?> entry ? entry.getKey() : a;
        Object right = b instanceof Map.Entry<?, ?> entry ? entry.getKey() : b;
        if (left instanceof Comparable<?> && right != null && left.getClass() == right.getClass()) {
            @SuppressWarnings("unchecked")
            Comparable<Object> comparable = (Comparable<Object>) left;
            return comparable.compareTo(right);
        }
        return listing(left, () -> {}).compareTo(listing(right, () -> {}));
    };
}
