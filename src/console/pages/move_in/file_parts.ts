import { PART_LENGTH_MAX } from '#modules/moving_in/decide/upload_limits.ts';

/** Returns a text in parts that one request takes; none of them ends within a character of two units. */
export function partsOf(text: string): string[] {
  const parts: string[] = [];
  for (let at = 0; at < text.length || parts.length === 0;) {
    let end = Math.min(text.length, at + PART_LENGTH_MAX);
    if (/[\uD800-\uDBFF]/.test(text.charAt(end - 1)) && end < text.length) end -= 1;
    parts.push(text.slice(at, end));
    at = end;
  }
  return parts;
}
