/** What the form of a new dashboard begins with. */
export interface DashboardStart {
  readonly serviceId: string | null;
  readonly name: string;
}

export const EMPTY_START: DashboardStart = { serviceId: null, name: '' };
