package slotwise.stormcluster;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.ServerSocket;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.stream.LongStream;
import org.apache.storm.Config;
import org.apache.storm.Constants;
import org.apache.storm.DaemonConfig;
import org.apache.storm.LocalCluster;
import org.apache.storm.cluster.ClusterStateContext;
import org.apache.storm.cluster.ClusterUtils;
import org.apache.storm.cluster.DaemonType;
import org.apache.storm.cluster.IStormClusterState;
import org.apache.storm.generated.StormTopology;
import org.apache.storm.generated.SupervisorInfo;
import org.apache.storm.networktopography.DNSToSwitchMapping;
import org.apache.storm.thrift.TException;
import org.apache.storm.utils.Time;
import org.apache.storm.utils.VersionInfo;

/** Nimbus, ZooKeeper and supervisors with the hosts, slots and capacities of an instance's nodes. */
final class StormCluster implements AutoCloseable {
    private static final Map<String, String> RACKS = new HashMap<>();
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int FIRST_PORT = 6700;
    private final Map<String, Object> conf = new HashMap<>();
    private final Map<String, IStormClusterState> supervisors = new HashMap<>();
    private final Map<String, Integer> ports = new HashMap<>();
    private final LocalCluster cluster;
    private final int port;

    StormCluster(JsonNode description) throws Exception {
        port = freePort();
        conf.put(Config.NIMBUS_THRIFT_PORT, port);
        conf.put(Config.NIMBUS_SEEDS, List.of("localhost"));
        conf.put(DaemonConfig.STORM_SCHEDULER, "org.apache.storm.scheduler.resource.ResourceAwareScheduler");
        conf.put(Config.STORM_NETWORK_TOPOGRAPHY_PLUGIN, Racks.class.getName());
        // No heartbeat of an executor ever comes.
        conf.put(DaemonConfig.NIMBUS_TASK_LAUNCH_SECS, 100_000);
        if (description.has("conf")) {
            conf.putAll(map(description.get("conf")));
        }
        cluster = new LocalCluster.Builder()
            .withNimbusDaemon().withSupervisors(0).withDaemonConf(conf).build();
        conf.putAll(cluster.getDaemonConf());
        for (JsonNode node : description.get("nodes")) {
            addSupervisor(node);
        }
    }

    int port() {
        return port;
    }

    /**
     * Registers a supervisor with Nimbus as on the node's host. It starts no workers: Nimbus
     * assigns executors to it as to any other, and takes them for alive.
     */
    void addSupervisor(JsonNode node) throws Exception {
        String host = node.path("host").asText(node.get("id").asText());
        RACKS.put(host, node.get("rack").asText());
        int slots = node.get("slots").intValue();
        Map<String, Double> resources = new HashMap<>();
        node.get("resources").properties().forEach(entry -> resources.put(
            switch (entry.getKey()) {
                case "cpu" -> Constants.COMMON_CPU_RESOURCE_NAME;
                case "memory_mb" -> Constants.COMMON_TOTAL_MEMORY_RESOURCE_NAME;
                default -> entry.getKey();
            },
            entry.getValue().doubleValue()));
        SupervisorInfo info = new SupervisorInfo(Time.currentTimeSecs(), host);
        // Supervisors of one host share its ports.
        long first = FIRST_PORT + ports.merge(host, slots, Integer::sum) - slots;
        info.set_meta(LongStream.range(first, first + slots).boxed().toList());
        info.set_used_ports(List.of());
        info.set_resources_map(resources);
        info.set_uptime_secs(0);
        info.set_version(VersionInfo.getVersion());
        String id = node.get("id").asText();
        IStormClusterState state = ClusterUtils.mkStormClusterState(
            conf, new ClusterStateContext(DaemonType.SUPERVISOR, conf));
        state.supervisorHeartbeat(id, info);
        supervisors.put(id, state);
    }

    /** Ends a supervisor's session, so that Nimbus knows it no more. */
    void endSupervisor(String id) {
        supervisors.remove(id).disconnect();
    }

    void submit(JsonNode topology) throws Exception {
        cluster.submitTopology(
            topology.get("id").asText(), Idle.conf(topology), Idle.topology(topology));
    }

    /** Submits a Flux file as Flux does; flux-core is known at run time only. */
    void submitFlux(String file) throws ReflectiveOperationException, TException {
        String flux = "org.apache.storm.flux.";
        Class<?> definition = Class.forName(flux + "model.TopologyDef");
        Class<?> context = Class.forName(flux + "model.ExecutionContext");
        Class<?> builder = Class.forName(flux + "FluxBuilder");
        Object parsed = Class.forName(flux + "parser.FluxParser")
            .getMethod(
                "parseFile", String.class, boolean.class, boolean.class, Properties.class,
                boolean.class)
            .invoke(null, file, false, true, new Properties(), true);
        Config own = (Config) builder.getMethod("buildConfig", definition).invoke(null, parsed);
        Object made = context.getConstructor(definition, Config.class).newInstance(parsed, own);
        cluster.submitTopology(
            (String) definition.getMethod("getName").invoke(parsed), own,
            (StormTopology) builder.getMethod("buildTopology", context).invoke(null, made));
    }

    @Override
    public void close() throws Exception {
        supervisors.values().forEach(IStormClusterState::disconnect);
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
