import fc from 'fast-check';

const DEFAULT_SEED = 20_261_122;

/**
 * Every run tries the same values, so that a run which fails tells of the commit and not of chance. `PROPERTY_SEED=7`
 * tries others; `npm run check:properties` tries new ones each time, and a failure prints its seed.
 */
function seedOfRun(): number {
  const seed = process.env.PROPERTY_SEED ?? String(DEFAULT_SEED);
  if (seed === 'random') return Math.floor(Math.random() * 1_000_000_000);
  if (/^\d{1,9}$/.test(seed)) return Number(seed);
  throw new Error(`PROPERTY_SEED must be a whole number below 1,000,000,000 or "random", not "${seed}"`);
}

fc.configureGlobal({ seed: seedOfRun() });

/**
 * Returns the number of cases of a slow property. The seed of all runs tries the same each time, and a twentieth of
 * them, or another part: the proof `properties` tries all, with new seeds.
 */
export function slowRuns(count: number, part = 20): number {
  return process.env.PROPERTY_SEED === undefined ? Math.ceil(count / part) : count;
}

/**
 * Returns the inputs of a sweep: in the proof `properties` all, in the gate one at this place and each that many behind it.
 * Of rows of equal length, a number that is smaller and has no factor in common with it meets every row and every column.
 */
export function sweep<Input>(inputs: readonly Input[], each: number, place = 0): Input[] {
  return inputs.filter((_, index) => process.env.PROPERTY_SEED !== undefined || index % each === place);
}

/** Returns the part of the workloads of a file that the gate counts, one in so many; the proof `properties` counts all. */
export function countedPart(of: number): { readonly from: number; readonly of: number } {
  return { from: 0, of: process.env.PROPERTY_SEED === undefined ? of : 1 };
}

export default fc;
