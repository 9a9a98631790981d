/** Fields that events of a group are searched by, besides tags. */
export const EVENT_FIELDS = ['user', 'env', 'release', 'url', 'transaction', 'file', 'message'] as const;
export type EventField = (typeof EVENT_FIELDS)[number];

/** A condition on an event. Where values match as a whole, `*` stands for anything. */
export type EventCondition =
  | { readonly field: EventField; readonly value: string }
  | { readonly field: 'tag'; readonly key: string; readonly value: string };

/** Writes a condition as it is searched for. */
export function conditionText(condition: EventCondition): string {
  const key = condition.field === 'tag' ? `tag.${condition.key}` : condition.field;
  const { value } = condition;
  return /^(?!\/\/)[^\s"\\]+$/.test(value)
    ? `${key}:${value}`
    : `${key}:"${value.replaceAll(/["\\]/g, (mark) => `\\${mark}`)}"`;
}
