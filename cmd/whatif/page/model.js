// Changes of a model. A model has the contents of a model file, with numbers as texts. None of these functions changes its arguments.
// A change that would leave a class without a server returns an error text instead.

const sameName = (choice, name) => (choice.group ?? choice) === name;
const isOn = (row, server) => row.servers.some((choice) => sameName(choice, server.name));
const choiceOf = (server, choose = 1) => (server.count > 1 ? { group: server.name, choose: Math.min(choose, server.count) } : server.name);

// Rows of a model are its "classes" or its "servers".
function withRow(model, rows, name, fields) {
  return { ...model, [rows]: model[rows].map((row) => (row.name === name ? { ...row, ...fields } : row)) };
}

// sizeOf returns the mean size of a class: its own, otherwise that of the model.
const sizeOf = (model, row) => row.mean_size ?? model.mean_size ?? "1";

// hasOneSize reports whether all jobs that arrive have the same mean size.
const hasOneSize = (model) => new Set(model.classes.filter((row) => parseNumber(row.arrival_rate) > 0).map((row) => parseNumber(sizeOf(model, row)))).size <= 1;

// resize sets the mean size of a class, and resizeAll that of all classes. Sizes that equal the default are omitted.
function resize(model, name, size) {
  return withRow(model, "classes", name, { mean_size: size === (model.mean_size ?? "1") ? undefined : size });
}

function resizeAll(model, size) {
  return { ...model, classes: model.classes.map((row) => ({ ...row, mean_size: undefined })), mean_size: size === "1" ? undefined : size };
}

function newName(list, stem) {
  let n = list.length + 1;
  while (list.some((row) => row.name === `${stem}-${n}`)) n++;
  return `${stem}-${n}`;
}

function addServer(model) {
  const name = newName(model.servers, "server");
  return { ...model, servers: [...model.servers, { name, capacity: "1" }] };
}

// addClass adds a class on the named server, otherwise on the first one.
function addClass(model, serverName) {
  const server = model.servers.find((row) => row.name === serverName) ?? model.servers[0];
  const name = newName(model.classes, "class");
  return { ...model, classes: [...model.classes, { name, arrival_rate: "0.1", servers: [choiceOf(server)] }] };
}

function removeClass(model, name) {
  if (model.classes.length === 1) return "A model needs at least one class.";
  return { ...model, classes: model.classes.filter((row) => row.name !== name) };
}

function removeServer(model, name) {
  if (model.servers.length === 1) return "A model needs at least one server.";
  const alone = model.classes.find((row) => row.servers.length === 1 && sameName(row.servers[0], name));
  if (alone) return `${alone.name} runs on ${name} only: connect it elsewhere first.`;
  return {
    ...model,
    servers: model.servers.filter((row) => row.name !== name),
    classes: model.classes.map((row) => ({ ...row, servers: row.servers.filter((choice) => !sameName(choice, name)) })),
  };
}

// connect connects a class and a server, or disconnects them if they are connected.
function connect(model, className, serverName) {
  const row = model.classes.find(({ name }) => name === className);
  const server = model.servers.find(({ name }) => name === serverName);
  if (!isOn(row, server)) {
    const order = (choice) => model.servers.findIndex(({ name }) => sameName(choice, name));
    const servers = [...row.servers, choiceOf(server)].sort((a, b) => order(a) - order(b));
    return withRow(model, "classes", className, { servers });
  }
  if (row.servers.length === 1) return `${className} runs on ${serverName} only: connect it elsewhere first.`;
  return withRow(model, "classes", className, { servers: row.servers.filter((choice) => !sameName(choice, serverName)) });
}

// choose sets how many servers of a group a class draws.
function choose(model, className, server, count) {
  const row = model.classes.find(({ name }) => name === className);
  const servers = row.servers.map((choice) => (sameName(choice, server.name) ? choiceOf(server, count) : choice));
  return withRow(model, "classes", className, { servers });
}

function rename(model, rows, from, to) {
  if (to === "" || model[rows].some((row) => row.name === to)) return `Choose another name: ${to === "" ? "this one is empty" : `${to} exists already`}.`;
  const renamed = withRow(model, rows, from, { name: to });
  if (rows === "classes") return renamed;
  const servers = (list) => list.map((choice) => (!sameName(choice, from) ? choice : choice.group ? { ...choice, group: to } : to));
  return { ...renamed, classes: renamed.classes.map((row) => ({ ...row, servers: servers(row.servers) })) };
}

// count makes a row of servers a group of the given size, or a single server.
function count(model, name, size) {
  const counted = withRow(model, "servers", name, { count: size > 1 ? size : undefined });
  const server = counted.servers.find((row) => row.name === name);
  const servers = (list) => list.map((choice) => (sameName(choice, name) ? choiceOf(server, choice.choose) : choice));
  return { ...counted, classes: counted.classes.map((row) => ({ ...row, servers: servers(row.servers) })) };
}
