/** What is timed: files of workloads, which the gate counts on small input, and the size that a person or a stranger may bring. */
export const MEMBERS = [
  { file: 'test/core/exceptions/secrets_workloads.ts', size: 64_000 },
  { file: 'test/core/exceptions/masking_workloads.ts', size: 100_000 },
  { file: 'test/core/exceptions/pattern_workloads.ts', size: 500 },
  { file: 'test/core/incidents/maintenance_workloads.ts', size: 200 },
  { file: 'test/core/metrics/replay_workloads.ts', size: 7 * 1_440 },
  { file: 'test/core/source_maps/hostile_maps_workloads.ts', size: 1_000_000 },
  { file: 'test/ingest/protocols/hostile_metrics_workloads.ts', size: 512 * 1024 },
  { file: 'test/ingest/protocols/sentry/hostile_events_workloads.ts', size: 512 * 1024 },
] as const;
