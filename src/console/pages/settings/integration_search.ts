/** Service whose keys are shown, in an address; without it, the first service. */
export interface IntegrationSearch {
  readonly service?: string;
}

export function readIntegrationSearch({ service }: Record<string, unknown>): IntegrationSearch {
  return typeof service === 'string' && service !== '' ? { service } : {};
}
