package slotwise.stormpeer;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * One request.
 *
 * <p>{@code instance}: the data of a {@code slotwise.instance/1} file, defaults filled in.
 * {@code hash}: what the placement names as its instance. {@code runs}: how often the same
 * scheduling is done, each from a fresh state; the times of all come back, and the answer of the
 * last.
 */
record Request(JsonNode data) {
    JsonNode instance() {
        return data.get("instance");
    }

    String hash() {
        return data.get("hash").asText();
    }

    int runs() {
        return data.get("runs").intValue();
    }
}
