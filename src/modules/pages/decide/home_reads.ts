/** Number of the viewer's open incidents that the home page shows. */
export const MY_INCIDENTS_SHOWN_MAX = 8;

/** Query with one row more than is shown, which tells whether there are more. */
export const MY_INCIDENTS = { status: 'open', isMine: true, limit: MY_INCIDENTS_SHOWN_MAX + 1 } as const;

export const LAST_RESOLVED = { status: 'resolved', limit: 1 } as const;

/** Operations that the home page calls when it opens. */
export const HOME_READS = [
  { action: 'get_home', input: {} },
  { action: 'search_incidents', input: MY_INCIDENTS },
  { action: 'search_incidents', input: LAST_RESOLVED },
] as const;
