import type { Label } from '#core/metrics/labels.ts';

/**
 * The resource attributes that become labels: those that tell one sender from another. Without them the counters of
 * two instances would run into each other. The others (versions, command lines, runtimes) would start every series
 * anew at each deployment and say nothing that points are grouped by.
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

/** Tells the processes of one host apart where nothing better does: it changes at each start. */
const FALLBACK = 'process.pid';

export function chooseResourceLabels(attributes: readonly Label[]): readonly Label[] {
  const chosen = attributes.filter(({ name }) => IDENTITY.has(name));
  if (chosen.some(({ name }) => name === 'service.instance.id')) return chosen;
  return [...chosen, ...attributes.filter(({ name }) => name === FALLBACK)];
}
