// What slotwise asks a Nimbus of Storm 2: the calls and fields that it uses, by Storm's own numbers
// (storm.thrift of Storm 2.8). A reader of Thrift skips the fields that are not listed.

struct NullStruct {}
struct JavaObject { 1: string full_class_name }
struct GlobalStreamId { 1: required string componentId, 2: required string streamId }
union Grouping {
  1: list<string> fields
  2: NullStruct shuffle
  3: NullStruct all
  4: NullStruct none
  5: NullStruct direct
  6: JavaObject custom_object
  7: binary custom_serialized
  8: NullStruct local_or_shuffle
}
struct ComponentCommon {
  1: map<GlobalStreamId, Grouping> inputs
  3: optional i32 parallelism_hint
  4: optional string json_conf
}
struct SpoutSpec { 2: ComponentCommon common }
struct Bolt { 2: ComponentCommon common }
struct SharedMemory {
  1: required string name
  2: optional double on_heap
  3: optional double off_heap_worker
  4: optional double off_heap_node
}
struct StormTopology {
  1: map<string, SpoutSpec> spouts
  2: map<string, Bolt> bolts
  9: optional map<string, set<string>> component_to_shared_memory
  10: optional map<string, SharedMemory> shared_memory
}

exception NotAliveException { 1: required string msg }
exception AuthorizationException { 1: required string msg }
exception InvalidTopologyException { 1: required string msg }

struct TopologySummary {
  1: required string id
  2: required string name
  6: required i32 uptime_secs
  7: required string status
  514: optional string owner
  521: optional double requested_memonheap
  522: optional double requested_memoffheap
  523: optional double requested_cpu
}
struct SupervisorSummary {
  1: required string host
  3: required i32 num_workers
  5: required string supervisor_id
  7: optional map<string, double> total_resources
  12: optional bool blacklisted
}
struct NimbusSummary { 4: required bool isLeader }
struct ClusterSummary {
  1: required list<SupervisorSummary> supervisors
  3: required list<TopologySummary> topologies
  4: required list<NimbusSummary> nimbuses
}

struct BoltStats { 4: map<string, map<GlobalStreamId, i64>> executed }
union ExecutorSpecificStats { 1: BoltStats bolt }
struct ExecutorStats { 3: ExecutorSpecificStats specific }
struct ExecutorInfo { 1: required i32 task_start, 2: required i32 task_end }
struct ExecutorSummary {
  1: required ExecutorInfo executor_info
  2: required string component_id
  3: required string host
  4: required i32 port
  5: required i32 uptime_secs
  7: optional ExecutorStats stats
}
struct TopologyInfo { 1: required string id, 4: required list<ExecutorSummary> executors }
enum NumErrorsChoice { ALL, NONE, ONE }
struct GetInfoOptions { 1: optional NumErrorsChoice num_err_choice }

struct WorkerSummary { 1: optional string supervisor_id, 2: optional string host, 3: optional i32 port }
struct TopologyPageInfo { 1: required string id, 16: optional list<WorkerSummary> workers }

struct RebalanceOptions {
  1: optional i32 wait_secs
  4: optional map<string, map<string, double>> topology_resources_overrides
  5: optional string topology_conf_overrides
}

service Nimbus {
  ClusterSummary getClusterInfo() throws (1: AuthorizationException aze)
  string getNimbusConf() throws (1: AuthorizationException aze)
  string getTopologyConf(1: string id) throws (1: NotAliveException e, 2: AuthorizationException aze)
  StormTopology getTopology(1: string id) throws (1: NotAliveException e, 2: AuthorizationException aze)
  TopologyInfo getTopologyInfoWithOpts(1: string id, 2: GetInfoOptions options) throws (1: NotAliveException e, 2: AuthorizationException aze)
  TopologyPageInfo getTopologyPageInfo(1: string id, 2: string window, 3: bool is_include_sys) throws (1: NotAliveException e, 2: AuthorizationException aze)
  void rebalance(1: string name, 2: RebalanceOptions options) throws (1: NotAliveException e, 2: InvalidTopologyException ite, 3: AuthorizationException aze)
}
