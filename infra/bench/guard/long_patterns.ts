const PATTERNS_A_SELECTOR = 7;
/** Expensive to compile for its length. */
const CLASSES = 60;

/** A selector of seven patterns that nobody has sent before. */
export function newSelector(metric: string, index: number): string {
  const matchers = Array.from({ length: PATTERNS_A_SELECTOR }, (_, place) => {
    return `l${place}=~"(?i)${'\\\\pL'.repeat(CLASSES)}${index}x${place}"`;
  });
  return `${metric}{${matchers.join(',')}}`;
}
