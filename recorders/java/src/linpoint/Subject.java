package linpoint;

import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;

/** A class whose instances are called with arguments as histories have them. */
final class Subject {
    /** A call as a history has it: null for no argument, a list for several. */
    record Call(String method, Object argument) {
        @Override
        public String toString() {
            return method + "(" + (argument == null ? "" : Json.text(argument)) + ")";
        }
    }

    /** A call that is ready to be made on one instance: its arguments are objects of the types that the method takes. */
    record Invocation(Method method, Object[] arguments, Runnable step) {
        /** Makes the call. Its answer is written down at once, since it may be a view of the instance. */
        Json.Raw on(Object instance, Answers answers) throws InterruptedException {
            try {
                Object result = method.invoke(instance, arguments);
                return method.getReturnType() == void.class ? Answers.nothing() : answered(result, answers);
            } catch (InvocationTargetException thrown) {
                if (thrown.getCause() instanceof InterruptedException interrupted) {
                    throw interrupted;
                }
                return Answers.threw(thrown.getCause());
            } catch (IllegalAccessException error) {
                throw new IllegalStateException(error);
            }
        }

        /** The answer, with a step before each element that is read. To read a result may fail, if other threads change it meanwhile. */
        private Json.Raw answered(Object result, Answers answers) {
            try {
                return answers.returned(result, step);
            } catch (RuntimeException thrown) {
                return Answers.threw(thrown);
            }
        }
    }

    private final Class<?> type;
    private final List<?> constructorArguments;
    /** What is done whenever an instance asks an argument for an element, or calls it. */
    private final Runnable step;
    private final Elements elements;
    private final Map<String, List<Method>> overloads = new HashMap<>();

    /** What integers are, where any object will do. */
    enum Elements {
        /** {@code Integer}, and {@code Long} for those that are too large. */
        INTEGERS,
        /** {@code Long}. */
        LONGS,
        /** {@link Element}, which does the step whenever an instance looks at it. */
        STEPPED;

        /** Returns what has this name in descriptions and options. */
        static Elements named(String name) {
            try {
                return valueOf(name.toUpperCase());
            } catch (IllegalArgumentException unknown) {
                throw new IllegalArgumentException("elements are integers, longs or stepped, not " + name, unknown);
            }
        }
    }

    /** A class that one thread uses. */
    Subject(String name, List<?> constructorArguments) throws ClassNotFoundException {
        this(name, constructorArguments, () -> {}, Elements.INTEGERS);
    }

    /** A class whose use is interspersed with steps. */
    Subject(String name, List<?> constructorArguments, Runnable step, Elements elements) throws ClassNotFoundException {
        this.type = Class.forName(name);
        this.constructorArguments = constructorArguments;
        this.step = step;
        this.elements = elements;
    }

    /** Returns the names of the methods, sorted. */
    List<String> methods() {
        return Arrays.stream(type.getMethods()).map(Method::getName).distinct().sorted().toList();
    }

    Object newInstance() {
        for (Constructor<?> constructor : type.getConstructors()) {
            Object[] converted = converted(constructor, constructorArguments.toArray());
            if (converted != null) {
                try {
                    return constructor.newInstance(converted);
                } catch (ReflectiveOperationException error) {
                    throw new IllegalStateException(type.getName() + " cannot be constructed", error);
                }
            }
        }
        throw new IllegalArgumentException(
            type.getName() + " has no public constructor that takes " + Json.text(constructorArguments));
    }

    /** Prepares a call, with new argument objects. */
    Invocation prepare(Call call) throws NoSuchMethodException {
        for (Object[] arguments : argumentLists(call.argument())) {
            for (Method method : overloads(call.method())) {
                Object[] converted = converted(method, arguments);
                if (converted != null) {
                    // Public methods of classes that are not public.
                    method.setAccessible(method.getDeclaringClass().getModule() == Subject.class.getModule());
                    return new Invocation(method, converted, step);
                }
            }
        }
        throw new NoSuchMethodException(
            type.getName() + " has no public method " + call.method() + "(" + Json.text(call.argument()) + ")");
    }

    /** How the argument of a call may be meant: a list may be several arguments, or one. */
    private static List<Object[]> argumentLists(Object argument) {
        if (argument == null) {
            return List.of(new Object[0], new Object[] {null});
        }
        Object[] one = {argument};
        return argument instanceof List<?> list ? List.of(list.toArray(), one) : List.<Object[]>of(one);
    }

    /** The methods of this name. As in Java source, remove(1) of a list is remove(int). */
    private List<Method> overloads(String name) {
        return overloads.computeIfAbsent(name, unused -> Arrays.stream(type.getMethods())
            .filter(method -> method.getName().equals(name) && !method.isBridge())
            .sorted(Comparator.comparing((Method method) -> Arrays.asList(method.getParameterTypes()).contains(Object.class))
                .thenComparing(Method::toString))
            .toList());
    }

    /** The arguments as the types of the parameters, or null if they do not fit. */
    private Object[] converted(Executable executable, Object[] arguments) {
        Class<?>[] types = executable.getParameterTypes();
        if (types.length != arguments.length) {
            return null;
        }
        Object[] converted = new Object[types.length];
        for (int i = 0; i < types.length; i++) {
            converted[i] = convert(arguments[i], types[i]);
            boolean isNull = arguments[i] == null && !types[i].isPrimitive();
            if (converted[i] == null && !isNull) {
                return null;
            }
        }
        return converted;
    }

    /** The value as this type, or null if it is none. */
    private Object convert(Object value, Class<?> type) {
        String function = Functions.name(value);
        if (function != null) {
            return Functions.named(function, type, step, this::boxed);
        }
        if (value instanceof Number number) {
            Object converted = convertNumber(number, type);
            if (converted != null) {
                return converted;
            }
            Object boxed = value instanceof Integer integer ? boxed(integer) : value;
            return type.isInstance(boxed) ? boxed : type.isInstance(value) ? value : null;
        }
        if (value instanceof Boolean && type == boolean.class) {
            return value;
        }
        if (value instanceof String text) {
            if ((type == char.class || type == Character.class) && text.length() == 1) {
                return text.charAt(0);
            }
            if (type.isEnum()) {
                return Arrays.stream(type.getEnumConstants()).filter(constant -> constant.toString().equals(text)).findFirst().orElse(null);
            }
        }
        if (value instanceof List<?> list) {
            Object pairs = convertPairs(list, type);
            return pairs == null ? convertList(list, type) : pairs;
        }
        if (value instanceof Map<?, ?> map) {
            Map<Object, Object> pairs = new SteppedMap(step);
            // The keys of a JSON object are text, also where the map has integers.
            map.forEach((key, item) -> {
                boolean isInteger = ((String) key).matches("-?[0-9]{1,9}");
                pairs.put(convert(isInteger ? Integer.valueOf((String) key) : key, Object.class), convert(item, Object.class));
            });
            return type.isInstance(pairs) ? pairs : null;
        }
        return type.isInstance(value) ? value : null;
    }

    private Object boxed(int number) {
        return switch (elements) {
            case INTEGERS -> number;
            case LONGS -> (long) number;
            case STEPPED -> new Element(number, step);
        };
    }

    private static Object convertNumber(Number number, Class<?> type) {
        boolean isWhole = !(number instanceof Double);
        if (isWhole && (type == int.class || type == Integer.class)) {
            return number.intValue();
        }
        if (isWhole && (type == long.class || type == Long.class)) {
            return number.longValue();
        }
        return type == double.class || type == Double.class ? number.doubleValue() : null;
    }

    /** The map with these pairs, in their order, or null if the type is no map or the items are no pairs. */
    private Object convertPairs(List<?> list, Class<?> type) {
        boolean arePairs = list.stream().allMatch(item -> item instanceof List<?> pair && pair.size() == 2);
        if (type == Object.class || !type.isAssignableFrom(SteppedMap.class) || !arePairs) {
            return null;
        }
        Map<Object, Object> pairs = new SteppedMap(step);
        list.forEach(item -> {
            List<?> pair = (List<?>) item;
            pairs.put(convert(pair.get(0), Object.class), convert(pair.get(1), Object.class));
        });
        return pairs;
    }

    private Object convertList(List<?> list, Class<?> type) {
        if (type.isArray()) {
            Object array = Array.newInstance(type.getComponentType(), list.size());
            for (int i = 0; i < list.size(); i++) {
                Array.set(array, i, convert(list.get(i), type.getComponentType()));
            }
            return array;
        }
        List<Object> items = new ArrayList<>();
        list.forEach(item -> items.add(convert(item, Object.class)));
        Collection<Object> stepped = new SteppedList(items, step);
        if (type.isInstance(stepped)) {
            return stepped;
        }
        Collection<Object> set = new LinkedHashSet<>(items);
        return type.isInstance(set) ? set : null;
    }
}
