/** What an organization has decided about all its agents. */
export interface AgentSettings {
  /** The switch: every request of an agent is refused while it is set. */
  readonly areStopped: boolean;
  /** Changes of one agent within any hour; null: no cap at the MCP endpoint, and the default one for responders. */
  readonly writesAnHour: number | null;
  /** For how long a lease may hold the first step of an escalation. */
  readonly holdMinutes: number;
}

export const AGENT_SETTINGS_DEFAULT: AgentSettings = { areStopped: false, writesAnHour: null, holdMinutes: 0 };

export const WRITES_AN_HOUR_MAX = 1_000;

/** The cap for an agent, `ofResponders` where the organization has set none; null for none. */
export function capOf({ writesAnHour }: AgentSettings, isResponder: boolean, ofResponders: number): number | null {
  return writesAnHour ?? (isResponder ? ofResponders : null);
}
