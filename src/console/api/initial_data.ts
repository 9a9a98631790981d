import { serverTimeWas } from '#console/api/http.ts';

/** Data that the server sent with this page (src/entry/http/console/initial_data.ts). */
interface FirstData {
  readonly orgId: string;
  readonly at: string;
  readonly reads: readonly { readonly action: string; readonly input: object; readonly result: unknown }[];
}

/** Answers by their request. Each is taken once: later ones come from the server. */
let answers: Map<string, unknown> | null = null;
let takenOf: string | null = null;

/** Returns the answer that the page holds, for the first query with this request. */
export function takeDataOfPage(orgId: string, action: string, input: object): unknown {
  const key = keyOf(orgId, action, input);
  const answer = heldAnswers().get(key);
  if (heldAnswers().delete(key)) takenOf = orgId;
  return answer;
}

/** Returns the answers that the page holds, by the organization, the action and the input as JSON. */
export const heldAnswers = (): Map<string, unknown> => (answers ??= readAnswers());

/** Returns the time when the page began to read the organization's data, in milliseconds of the page's clock. */
export function shownSince(orgId: string): number {
  return takenOf === orgId ? 0 : performance.now();
}

/** Returns the time when the data of the page was read, by the clock of this device. */
export function dataOfPageAt(): number {
  return performance.timeOrigin + (visit()?.responseStart ?? 0);
}

/** Drops the data of the page, so that whoever signs in next at this browser sees none of it. */
export function dropDataOfPage(): void {
  document.querySelector('#first-data')?.remove();
  answers = null;
  takenOf = null;
}

function readAnswers(): Map<string, unknown> {
  const held = takeElement('first-data') as FirstData | null;
  if (held === null) return new Map();
  serverTimeWas(Date.parse(held.at), dataOfPageAt());
  return new Map(held.reads.map(({ action, input, result }) => [keyOf(held.orgId, action, input), result]));
}

/**
 * Takes the content of an element of the page: it is returned once; null if there is no such element, or if the browser
 * restored the page from its history.
 */
export function takeElement(id: string): unknown {
  const element = document.querySelector(`#${id}`);
  if (element === null) return null;
  element.remove();
  return visit()?.type === 'back_forward' ? null : JSON.parse(element.textContent);
}

function visit(): PerformanceNavigationTiming | undefined {
  const [entry] = performance.getEntriesByType('navigation');
  return entry instanceof PerformanceNavigationTiming ? entry : undefined;
}

function keyOf(orgId: string, action: string, input: object): string {
  return JSON.stringify([orgId, action, Object.entries(input).toSorted(([a], [b]) => (a < b ? -1 : 1))]);
}
