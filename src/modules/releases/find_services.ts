import { slugOf } from '#modules/releases/decide/release.ts';
import { AppError, invalidInput } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { ServiceWithCapabilities } from '#modules/services/store/service_store.ts';
import type { Stores } from '#modules/stores.ts';

const SERVICES_MAX = 10_000;
const NAMED_MAX = 50;

/**
 * The services that a build names as its projects: by the number in the DSN, by id, or by name (`Web shop` is `web-shop`).
 * Throws `not_found` with what to write instead.
 */
export async function findServices(
  stores: Pick<Stores, 'services'>,
  orgId: Id<'org'>,
  projects: readonly string[],
): Promise<ServiceWithCapabilities[]> {
  if (projects.length > NAMED_MAX) {
    throw invalidInput([{ path: 'projects', message: `name at most ${NAMED_MAX} projects` }]);
  }
  const services = await stores.services.list(orgId, SERVICES_MAX);
  return [...new Set(projects.map((project) => findService(services, project)))];
}

function findService(services: readonly ServiceWithCapabilities[], project: string): ServiceWithCapabilities {
  const exact = services.find(
    ({ id, projectId, keptProjectNumber }) =>
      id === project || String(keptProjectNumber ?? projectId) === project || String(projectId) === project,
  );
  if (exact !== undefined) return exact;
  const [match, another] = services.filter(({ name }) => name === project || slugOf(name) === slugOf(project));
  const shown = project.slice(0, 100);
  if (match === undefined) {
    throw new AppError(
      'not_found',
      `no service is called "${shown}"; as project give the name of a service, or the number at the end of its DSN`,
    );
  }
  if (another !== undefined) {
    throw new AppError('conflict', `several services are called "${shown}"; as project give the number of the DSN`);
  }
  return match;
}
