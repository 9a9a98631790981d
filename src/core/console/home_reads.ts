/** What somebody can answer from the home page. */
export const MY_INCIDENTS_SHOWN_MAX = 8;

/** One more than are shown tells that there are more. */
export const MY_INCIDENTS = { status: 'open', isMine: true, limit: MY_INCIDENTS_SHOWN_MAX + 1 } as const;

export const LAST_RESOLVED = { status: 'resolved', limit: 1 } as const;

/** What the home page asks for when it is opened. */
export const HOME_READS = [
  { action: 'get_home', input: {} },
  { action: 'search_incidents', input: MY_INCIDENTS },
  { action: 'search_incidents', input: LAST_RESOLVED },
] as const;
