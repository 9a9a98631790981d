/**
 * Measured workloads: files that the gate counts on small input, and the size that a person or a stranger may bring.
 */
export const MEMBERS = [
  { file: 'test/modules/exceptions/decide/secrets_workloads.ts', size: 64_000 },
  { file: 'test/modules/exceptions/decide/masking_workloads.ts', size: 100_000 },
  { file: 'test/modules/exceptions/decide/pattern_workloads.ts', size: 500 },
  { file: 'test/modules/maintenance/decide/maintenance_workloads.ts', size: 200 },
  { file: 'test/modules/rules/decide/replay_workloads.ts', size: 7 * 1_440 },
  { file: 'test/modules/releases/decide/source_maps/hostile_maps_workloads.ts', size: 1_000_000 },
  { file: 'test/ingest/protocols/hostile_metrics_workloads.ts', size: 512 * 1024 },
  { file: 'test/ingest/protocols/sentry/hostile_events_workloads.ts', size: 512 * 1024 },
] as const;
