/** Topics of the live updates that a console receives. */
export const LIVE_TOPICS = ['incidents', 'exceptions', 'services', 'teams', 'rules', 'dashboards'] as const;

export type LiveTopic = (typeof LIVE_TOPICS)[number];

/** A change notification: the topic to fetch again. `ids` lists everything that changed; null: too many to list. */
export interface LiveChange {
  readonly topic: LiveTopic;
  readonly ids: readonly string[] | null;
}

/** Limit on the ids in one change of a topic. Beyond it none are sent, and the browser reloads its lists. */
export const LIVE_IDS_MAX = 50;
