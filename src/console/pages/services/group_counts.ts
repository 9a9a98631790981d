import { countText } from '#console/pages/exceptions/count_text.ts';

interface GroupCounts {
  readonly newGroups: number;
  readonly regressedGroups: number;
  readonly resolvedGroups: number;
}

/** Returns the counts of a release's exceptions as texts; counts of zero are left out. */
export function groupCounts({ newGroups, regressedGroups, resolvedGroups }: GroupCounts): string[] {
  return [
    ...(newGroups > 0 ? [countText(newGroups, 'new exception')] : []),
    ...(regressedGroups > 0 ? [`${regressedGroups.toLocaleString()} came back`] : []),
    ...(resolvedGroups > 0 ? [`${resolvedGroups.toLocaleString()} resolved`] : []),
  ];
}
