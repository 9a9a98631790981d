/** What a metric rule does when its window holds no data. */
export const NO_DATA_CHOICES = ['resolve', 'keep', 'page'] as const;

export type NoDataChoice = (typeof NO_DATA_CHOICES)[number];

/** How a metric rule is judged beyond its config: when a breach counts, and when it is over. */
export interface MetricRuleSettings {
  /** A breach has to last so long before an incident opens; 0: it opens at once. */
  readonly forMinutes: number;
  /** The condition counts as false only beyond this value; null: as soon as the threshold is not crossed. */
  readonly recoveryThreshold: number | null;
  /** It has to be false so long, at every evaluation, before the incident is resolved; null: for a whole window. */
  readonly recoveryMinutes: number | null;
  /** `resolve` the open incident, `keep` it, or `page`: keep it, and open one where none is open. */
  readonly noData: NoDataChoice;
  /** After so many minutes of windows without data. */
  readonly noDataMinutes: number;
  /** From so many incidents within `flapMinutes` on, the rule flaps; null: it never does. */
  readonly flapIncidents: number | null;
  /** While it flaps, its incident stays open until the condition has been false for so long. */
  readonly flapMinutes: number;
}

export const METRIC_RULE_DEFAULTS: MetricRuleSettings = {
  forMinutes: 0,
  recoveryThreshold: null,
  recoveryMinutes: null,
  noData: 'resolve',
  noDataMinutes: 15,
  flapIncidents: null,
  flapMinutes: 60,
};
