package slotwise.stormcluster;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.ServerSocket;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.storm.Config;
import org.apache.storm.DaemonConfig;
import org.apache.storm.LocalCluster;
import org.apache.storm.networktopography.DNSToSwitchMapping;
import org.apache.storm.utils.Utils;

/** Nimbus, ZooKeeper and supervisors with the hosts, slots and capacities of an instance's nodes. */
final class StormCluster implements AutoCloseable {
    private static final Map<String, String> RACKS = new HashMap<>();
    private static final ObjectMapper JSON = new ObjectMapper();
    private final LocalCluster cluster;
    private final int port;

    StormCluster(JsonNode description) throws Exception {
        port = freePort();
        Map<String, Object> conf = new HashMap<>();
        conf.put(Config.NIMBUS_THRIFT_PORT, port);
        conf.put(Config.NIMBUS_SEEDS, List.of("localhost"));
        conf.put(DaemonConfig.STORM_SCHEDULER, "org.apache.storm.scheduler.resource.ResourceAwareScheduler");
        conf.put(Config.STORM_NETWORK_TOPOGRAPHY_PLUGIN, Racks.class.getName());
        // Executors that do nothing may be slow to start on a busy machine: they are not dead.
        conf.put(DaemonConfig.NIMBUS_TASK_LAUNCH_SECS, 600);
        conf.put(DaemonConfig.NIMBUS_TASK_TIMEOUT_SECS, 600);
        conf.put(DaemonConfig.NIMBUS_SUPERVISOR_TIMEOUT_SECS, 30);
        if (description.has("conf")) {
            conf.putAll(map(description.get("conf")));
        }
        cluster = new LocalCluster.Builder()
            .withNimbusDaemon().withSupervisors(0).withDaemonConf(conf).build();
        for (JsonNode node : description.get("nodes")) {
            addSupervisor(node);
        }
    }

    int port() {
        return port;
    }

    /** Starts a supervisor that says that it is on the node's host. */
    void addSupervisor(JsonNode node) throws Exception {
        String host = node.path("host").asText(node.get("id").asText());
        RACKS.put(host, node.get("rack").asText());
        Map<String, Double> generic = new HashMap<>();
        Map<String, Object> conf = new HashMap<>();
        node.get("resources").properties().forEach(entry -> {
            double amount = entry.getValue().doubleValue();
            switch (entry.getKey()) {
                case "cpu" -> conf.put(Config.SUPERVISOR_CPU_CAPACITY, amount);
                case "memory_mb" -> conf.put(Config.SUPERVISOR_MEMORY_CAPACITY_MB, amount);
                default -> generic.put(entry.getKey(), amount);
            }
        });
        conf.put(Config.SUPERVISOR_RESOURCES_MAP, generic);
        Utils usual = Utils.setInstance(new Utils() {
            @Override
            protected String hostnameImpl() {
                return host;
            }
        });
        try {
            cluster.addSupervisor(node.get("slots").intValue(), conf, node.get("id").asText());
        } finally {
            Utils.setInstance(usual);
        }
    }

    void endSupervisor(String id) {
        cluster.killSupervisor(id);
    }

    void submit(JsonNode topology) throws Exception {
        cluster.submitTopology(
            topology.get("id").asText(), Idle.conf(topology), Idle.topology(topology));
    }

    @Override
    public void close() throws Exception {
        cluster.close();
    }

    @SuppressWarnings("unchecked")
    static Map<String, Object> map(JsonNode object) {
        return JSON.convertValue(object, Map.class);
    }

    private static int freePort() throws Exception {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    /** The racks of the supervisors' hosts; Storm makes its own object of this class, by name. */
    public static final class Racks implements DNSToSwitchMapping {
        @Override
        public Map<String, String> resolve(List<String> hosts) {
            Map<String, String> racks = new HashMap<>();
            hosts.forEach(host -> racks.put(host, RACKS.getOrDefault(host, "/default-rack")));
            return racks;
        }
    }
}
