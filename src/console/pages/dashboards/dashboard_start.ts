/** Initial values of the form of a new dashboard. */
export interface DashboardStart {
  readonly serviceId: string | null;
  readonly name: string;
}

export const EMPTY_START: DashboardStart = { serviceId: null, name: '' };
