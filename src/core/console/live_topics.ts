/** What a console is told has changed. */
export const LIVE_TOPICS = ['incidents', 'exceptions', 'services', 'teams', 'rules', 'dashboards'] as const;

export type LiveTopic = (typeof LIVE_TOPICS)[number];

/** What to fetch again. `ids` names all of it; null means that there is too much to name. */
export interface LiveChange {
  readonly topic: LiveTopic;
  readonly ids: readonly string[] | null;
}

/** More of one topic are not named: the browser then loads its lists again. */
export const LIVE_IDS_MAX = 50;
