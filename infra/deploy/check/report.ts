/** Something that this machine does not have, or that cannot be downloaded now: skipped, and said loudly. */
export class Unavailable extends Error {}

/** Output of a check. */
export interface Report {
  /** A line about what is being done. */
  say(text: string): void;
  /** A figure, for the table at the end. */
  figure(name: string, value: string): void;
}

interface Part {
  readonly name: string;
  run(report: Report): Promise<void>;
}

type Outcome = { readonly kind: 'passed' } | { readonly kind: 'skipped' | 'failed'; readonly because: string };

const began = performance.now();

/** Runs one part after the other, whatever becomes of those before. Prints everything; false when one has failed. */
export async function runParts(parts: readonly Part[]): Promise<boolean> {
  const figures: (readonly [string, string])[] = [];
  const outcomes = new Map<string, Outcome>();
  for (const { name, run } of parts) {
    print(`\n== ${name}`);
    const say = (text: string): void => print(`${seconds(began).padStart(6)}  ${text}`);
    const outcome = await run({ say, figure: (what, value) => void figures.push([what, value]) }).then(
      (): Outcome => ({ kind: 'passed' }),
      (error: unknown): Outcome => {
        const because = error instanceof Error ? error.message : String(error);
        return { kind: error instanceof Unavailable ? 'skipped' : 'failed', because };
      },
    );
    outcomes.set(name, outcome);
    if (outcome.kind !== 'passed') say(`${outcome.kind}: ${outcome.because}`);
  }
  if (figures.length > 0) print('\n== figures');
  const width = Math.max(0, ...figures.map(([what]) => what.length));
  for (const [what, value] of figures) print(`${what.padEnd(width)}  ${value}`);
  print('');
  for (const [name, outcome] of outcomes) {
    if (outcome.kind === 'passed') print(`passed   ${name}`);
    if (outcome.kind === 'skipped')
      print(`SKIPPED  ${name}: ${firstLine(outcome.because)} -- NOTHING OF THIS WAS CHECKED`);
    if (outcome.kind === 'failed') print(`FAILED   ${name}: ${firstLine(outcome.because)}`);
  }
  return [...outcomes.values()].every(({ kind }) => kind !== 'failed');
}

export function seconds(since: number): string {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`;
}

export const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

const firstLine = (text: string): string => text.trim().split('\n')[0] ?? '';

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
