export const GROUP_STATUSES = ['unresolved', 'resolved', 'ignored'] as const;

export type GroupStatus = (typeof GROUP_STATUSES)[number];
