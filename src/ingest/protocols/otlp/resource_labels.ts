import type { Label } from '#ingest/admission/labels.ts';

/** Resource attributes that always become labels: semantic conventions and users name senders by them. */
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

/**
 * Attributes that describe a sender and do not distinguish it, by the semantic conventions. They would start new series
 * at each deployment, or hold long texts.
 */
const DESCRIPTIVE_PREFIXES = [
  'telemetry.',
  'process.',
  'os.',
  'host.arch',
  'host.type',
  'host.image.',
  'host.cpu.',
  'host.ip',
  'host.mac',
  'container.image.',
  'container.command',
  'container.label',
  'oci.',
  'aws.log.',
  'vcs.change.',
  'vcs.ref.',
  'vcs.repository.url.',
  'cicd.pipeline.run.',
  'cicd.pipeline.task.run.',
  'webengine.',
  'browser.',
  'user_agent.',
  'device.manufacturer',
  'device.model.',
  'android.',
] as const;
const DESCRIPTIVE_SUFFIXES = ['.version', '.description', '.start_time', '.restart_count', '.uptime'] as const;
const DESCRIPTIVE_KUBERNETES = /^k8s\.[^.]+\.(?:labels?|annotations?|ip|status)(?:\.|$)/;

const INSTANCE = 'service.instance.id';
/**
 * Attributes that distinguish the instances of a service without `service.instance.id`. The first one present is used.
 */
const FALLBACKS = ['process.pid', 'service.version'] as const;
/** Attributes whose instances need no version to be told apart. */
const INSTANCE_NAMES: ReadonlySet<string> = new Set(['k8s.pod.name', 'container.id', 'host.name']);

/** Limit on the labels of one resource. Those that always become labels come first, the rest by name. */
const LABELS_MAX = 24;

/**
 * Returns the resource attributes that become labels, so that streams of different resources are different series: all
 * but those that describe a sender. An attribute that is too long for a label is left out, unless it is one by which
 * senders are named; then points are refused with the reason.
 */
export function chooseResourceLabels(attributes: readonly Label[]): readonly Label[] {
  const named: Label[] = [];
  const others: Label[] = [];
  for (const attribute of attributes) {
    if (IDENTITY.has(attribute.name)) named.push(attribute);
    else if (attribute.fault === null && !isDescriptive(attribute.name)) others.push(attribute);
  }
  const fallback = named.some(({ name }) => name === INSTANCE) ? null : findFallback(attributes, named);
  if (fallback !== null) named.push(fallback);
  if (named.length + others.length > LABELS_MAX)
    others.sort((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)));
  return [...named, ...others].slice(0, LABELS_MAX);
}

function findFallback(attributes: readonly Label[], named: readonly Label[]): Label | null {
  for (const fallback of FALLBACKS) {
    if (fallback === 'service.version' && named.some(({ name }) => INSTANCE_NAMES.has(name))) return null;
    const attribute = attributes.find(({ name, fault }) => name === fallback && fault === null);
    if (attribute !== undefined) return attribute;
  }
  return null;
}

function isDescriptive(name: string): boolean {
  return (
    DESCRIPTIVE_PREFIXES.some((prefix) => name.startsWith(prefix)) ||
    DESCRIPTIVE_SUFFIXES.some((suffix) => name.endsWith(suffix)) ||
    DESCRIPTIVE_KUBERNETES.test(name)
  );
}

/**
 * A number for a resource or a scope with all its attributes, whatever their order: equal ones have the same, and
 * different ones very probably do not.
 */
export function identityOf(labels: readonly Label[]): number {
  let a = 0;
  let b = 0;
  for (const { high, low } of labels) {
    a = (a + Math.imul(high ^ 0x2c1b3c6d, low | 1)) | 0;
    b = (b + Math.imul(low ^ 0x297a2d39, high | 1)) | 0;
  }
  return (a >>> 0) * 0x20_0000 + (b & 0x1f_ffff);
}
