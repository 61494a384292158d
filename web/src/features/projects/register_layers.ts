/** Where the assumptions stand in the picture of what rests on what. */

export interface Resting {
  id: string;
  depends_on: readonly string[];
}

export interface Spot {
  id: string;
  /** 0 rests on nothing; each other one is right of all that it rests on. */
  layer: number;
  row: number;
}

export interface Edge {
  from: string;
  to: string;
}

export interface Layout {
  spots: Map<string, Spot>;
  /** All spots of each edge, from end to end: a long one has a free spot in each layer between. */
  ways: { edge: Edge; way: Spot[] }[];
}

/** From what is rested on to what rests on it. Ids that are not there are left out. */
export function edges(all: readonly Resting[]): Edge[] {
  const ids = new Set(all.map(({ id }) => id));
  return all.flatMap(({ id, depends_on }) => depends_on.filter((from) => ids.has(from)).map((from) => ({ from, to: id })));
}

export function layout(all: readonly Resting[]): Layout {
  const layers = layersOf(all);
  const layer = (id: string) => layers.get(id) ?? 0;
  const under = new Map<string, string[]>(all.map(({ id }) => [id, []]));
  const chains = edges(all).map((edge) => {
    const chain = [edge.from];
    for (let at = layer(edge.from) + 1; at < layer(edge.to); at++) {
      const between = `${edge.from} ${edge.to} ${at}`;
      layers.set(between, at);
      under.set(between, [chain[chain.length - 1] ?? edge.from]);
      chain.push(between);
    }
    under.get(edge.to)?.push(chain[chain.length - 1] ?? edge.from);
    return { edge, chain: [...chain, edge.to] };
  });
  const spots = placed(layers, under);
  const ways = chains.map(({ edge, chain }) => ({ edge, way: chain.flatMap((id) => spots.get(id) ?? []) }));
  return { spots, ways };
}

function layersOf(all: readonly Resting[]): Map<string, number> {
  const lines = edges(all);
  const layers = new Map<string, number>();
  const layerOf = (id: string, path: readonly string[]): number => {
    const known = layers.get(id);
    if (known !== undefined) return known;
    if (path.includes(id)) return 0;
    const found = Math.max(-1, ...lines.filter(({ to }) => to === id).map(({ from }) => layerOf(from, [...path, id]))) + 1;
    layers.set(id, found);
    return found;
  };
  for (const { id } of all) layerOf(id, []);
  return layers;
}

/** Each near what it rests on, so that few lines cross; those alike keep the order of the register. */
function placed(layers: Map<string, number>, under: Map<string, string[]>): Map<string, Spot> {
  const spots = new Map<string, Spot>();
  for (let layer = 0; layer <= Math.max(0, ...layers.values()); layer++) {
    const here = [...layers].filter(([, at]) => at === layer).map(([id]) => ({ id, wanted: mean((under.get(id) ?? []).map((each) => spots.get(each)?.row ?? 0)) }));
    here.sort((a, b) => a.wanted - b.wanted).forEach(({ id }, row) => spots.set(id, { id, layer, row }));
  }
  return spots;
}

function mean(numbers: readonly number[]): number {
  return numbers.length === 0 ? 0 : numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
}
