/** Whose keys are shown, as the address holds it: those of the first service without it. */
export interface IntegrationSearch {
  readonly service?: string;
}

export function readIntegrationSearch({ service }: Record<string, unknown>): IntegrationSearch {
  return typeof service === 'string' && service !== '' ? { service } : {};
}
