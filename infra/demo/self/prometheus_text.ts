/** One sample of a scrape. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  readonly kind: 'gauge' | 'counter';
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

/** The samples of Prometheus's text format whose name passes; those that are no numbers are left out. */
export function readSamples(text: string, passes: (name: string) => boolean): Sample[] {
  const kinds = new Map<string, string>();
  const samples: Sample[] = [];
  for (const line of text.split('\n')) {
    const declared = /^# TYPE (\S+) (\S+)/.exec(line);
    if (declared !== null) kinds.set(declared[1] ?? '', declared[2] ?? '');
    const match = line.startsWith('#') ? null : LINE.exec(line);
    const [name, labels, value] = [match?.[1] ?? '', match?.[2] ?? '', Number(match?.[3])];
    if (name === '' || !Number.isFinite(value) || !passes(name)) continue;
    const family = name.replace(/_(bucket|sum|count)$/, '');
    const isCounter = kinds.get(name) === 'counter' || kinds.get(family) === 'histogram';
    const pairs = [...labels.matchAll(LABEL)].map(([, key = '', text = '']) => [key, text.replace(/\\(.)/g, '$1')]);
    samples.push({
      name,
      labels: Object.fromEntries(pairs) as Record<string, string>,
      value,
      kind: isCounter ? 'counter' : 'gauge',
    });
  }
  return samples;
}
