import { BadSourceMap } from '#modules/releases/decide/source_maps/source_map.ts';
import { HOSTILE_MAPS, readHostileMap } from '#test/modules/releases/decide/source_maps/hostile_maps.ts';
import type { Workloads } from '#test/kit/counting/count_work.ts';

export default Object.fromEntries(
  Object.entries(HOSTILE_MAPS).map(([name, make]) => [
    name,
    (size) => {
      const uploaded = make(size);
      return () => {
        try {
          return readHostileMap(uploaded);
        } catch (error) {
          if (error instanceof BadSourceMap) return null;
          throw error;
        }
      };
    },
  ]),
) satisfies Workloads;
