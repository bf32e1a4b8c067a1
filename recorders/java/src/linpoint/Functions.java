package linpoint;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.IntFunction;

/**
 * The functions that calls take as arguments, by name. A history writes one as <code>{"function": "sum"}</code>. It stands for any
 * interface with one abstract method, such as {@code Function}, {@code BiFunction}, {@code Predicate} or {@code IntUnaryOperator}.
 */
final class Functions {
    private static final Map<String, Function<List<Object>, Object>> BY_NAME = Map.of(
        "null", arguments -> null,
        "first", arguments -> arguments.get(0),
        "last", arguments -> arguments.get(arguments.size() - 1),
        "sum", arguments -> arguments.stream().mapToInt(Functions::number).sum(),
        "successor", arguments -> number(arguments.get(arguments.size() - 1)) + 1,
        "even", arguments -> number(arguments.get(arguments.size() - 1)) % 2 == 0,
        "odd", arguments -> number(arguments.get(arguments.size() - 1)) % 2 != 0,
        "always", arguments -> true,
        "never", arguments -> false);

    private Functions() {}

    /** The integer, or what stands for it: 0 for null, and the length of a text. */
    private static int number(Object value) {
        if (value instanceof Element element) {
            return element.value();
        }
        return value instanceof Number number ? number.intValue() : value == null ? 0 : value.toString().length();
    }

    /** Returns the name of the function that this argument is, or null if it is none. */
    static String name(Object argument) {
        boolean isFunction = argument instanceof Map<?, ?> map && map.size() == 1 && map.get("function") instanceof String;
        return isFunction ? (String) ((Map<?, ?>) argument).get("function") : null;
    }

    /**
     * Returns the function of this name as this interface, or null if it is none with one abstract method. It does the step
     * when it is called; {@code boxed} makes an object of an integer.
     */
    static Object named(String name, Class<?> type, Runnable step, IntFunction<Object> boxed) {
        Function<List<Object>, Object> function = BY_NAME.get(name);
        if (function == null) {
            List<String> names = BY_NAME.keySet().stream().sorted().toList();
            throw new IllegalArgumentException("no function is called " + name + "; there are " + names);
        }
        Method only = onlyMethod(type);
        if (only == null) {
            return null;
        }
        InvocationHandler handler = (proxy, method, arguments) -> {
            if (method.isDefault()) {
                return InvocationHandler.invokeDefault(proxy, method, arguments);
            }
            if (method.getDeclaringClass() == Object.class) {
                return ofObject(proxy, method, arguments, name);
            }
            step.run();
            Object result = function.apply(arguments == null ? List.of() : Arrays.asList(arguments));
            return result instanceof Integer number ? converted(number, method.getReturnType(), boxed) : result;
        };
        return Proxy.newProxyInstance(type.getClassLoader() == null ? Functions.class.getClassLoader() : type.getClassLoader(),
            new Class<?>[] {type}, handler);
    }

    private static Object converted(int number, Class<?> type, IntFunction<Object> boxed) {
        if (type == int.class || type == long.class || type == double.class) {
            return type == int.class ? (Object) number : type == long.class ? (Object) (long) number : (Object) (double) number;
        }
        return boxed.apply(number);
    }

    private static Object ofObject(Object proxy, Method method, Object[] arguments, String name) {
        return switch (method.getName()) {
            case "equals" -> proxy == arguments[0];
            case "hashCode" -> Objects.hash(name);
            default -> name;
        };
    }

    private static Method onlyMethod(Class<?> type) {
        if (!type.isInterface()) {
            return null;
        }
        List<Method> methods = Arrays.stream(type.getMethods())
            .filter(method -> Modifier.isAbstract(method.getModifiers()))
            .filter(method -> !List.of("equals", "hashCode", "toString").contains(method.getName()))
            .toList();
        return methods.size() == 1 ? methods.get(0) : null;
    }
}
