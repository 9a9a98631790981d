import { countText } from '#console/pages/exceptions/count_text.ts';

interface GroupCounts {
  readonly newGroups: number;
  readonly regressedGroups: number;
  readonly resolvedGroups: number;
}

/** What a release did to exceptions, without what it did not. */
export function groupCounts({ newGroups, regressedGroups, resolvedGroups }: GroupCounts): string[] {
  return [
    ...(newGroups > 0 ? [countText(newGroups, 'new exception')] : []),
    ...(regressedGroups > 0 ? [`${regressedGroups.toLocaleString()} came back`] : []),
    ...(resolvedGroups > 0 ? [`${resolvedGroups.toLocaleString()} resolved`] : []),
  ];
}
