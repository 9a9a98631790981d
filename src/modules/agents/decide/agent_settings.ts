/** Settings of an organization for all its agents. */
export interface AgentSettings {
  /** Whether agents are stopped: then every request of an agent is refused. */
  readonly areStopped: boolean;
  /** Limit on one agent's changes within any hour; null: none at the MCP endpoint, the default one for responders. */
  readonly writesAnHour: number | null;
  /** Minutes for which a lease may hold the first step of an escalation. */
  readonly holdMinutes: number;
}

export const AGENT_SETTINGS_DEFAULT: AgentSettings = { areStopped: false, writesAnHour: null, holdMinutes: 0 };

export const WRITES_AN_HOUR_MAX = 1_000;

/** Returns the cap for an agent, `ofResponders` if the organization has set none; null for none. */
export function capOf({ writesAnHour }: AgentSettings, isResponder: boolean, ofResponders: number): number | null {
  return writesAnHour ?? (isResponder ? ofResponders : null);
}
