package slotwise.stormpeer;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Map;

/** Doubles of decimals, and the names of resources. */
final class Numbers {
    static final String CPU = "cpu";
    static final String MEMORY = "memory_mb";
    static final String ON_HEAP = "onheap_mb";
    static final String OFF_HEAP = "offheap_mb";

    private Numbers() {
    }

    /** The amount of a resource; absent = 0. */
    static double amount(JsonNode resources, String key) {
        return resources.has(key) ? finite(resources.get(key), key) : 0.0;
    }

    /** Puts every resource that Storm does not count by itself. */
    static void putGeneric(JsonNode resources, Map<String, Double> into) {
        for (Map.Entry<String, JsonNode> field : resources.properties()) {
            String key = field.getKey();
            if (!key.equals(CPU) && !key.equals(MEMORY)
                && !key.equals(ON_HEAP) && !key.equals(OFF_HEAP)) {
                into.put(key, finite(field.getValue(), key));
            }
        }
    }

    private static double finite(JsonNode number, String key) {
        if (!number.isNumber()) {
            throw new IllegalArgumentException(key + ": Storm needs a number, got " + number);
        }
        return number.doubleValue();
    }
}
