import type { Label } from '#ingest/admission/labels.ts';

/**
 * The resource attributes that become labels: those that distinguish senders. Without them the counters of two instances
 * would mix. The others (versions, command lines, runtimes) would start a new series at each deployment, and nobody groups
 * points by them.
 */
const IDENTITY: ReadonlySet<string> = new Set([
  'service.namespace',
  'service.name',
  'service.instance.id',
  'deployment.environment.name',
  'deployment.environment',
  'host.name',
  'k8s.namespace.name',
  'k8s.pod.name',
  'container.id',
]);

/** Distinguishes the processes of one host if nothing better does, because it changes at each start. */
const FALLBACK = 'process.pid';

const INSTANCE = 'service.instance.id';

export function chooseResourceLabels(attributes: readonly Label[]): readonly Label[] {
  const chosen: Label[] = [];
  let hasInstance = false;
  for (const attribute of attributes) {
    if (!IDENTITY.has(attribute.name)) continue;
    chosen.push(attribute);
    hasInstance ||= attribute.name === INSTANCE;
  }
  if (!hasInstance) for (const attribute of attributes) if (attribute.name === FALLBACK) chosen.push(attribute);
  return chosen;
}
