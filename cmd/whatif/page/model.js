// Changes of a model. A model has the contents of a model file, with numbers as texts. None of these functions changes its arguments.
// A change that would leave a class without a server returns an error text instead.

const services = { all: "all its servers", one: "one server", gang: "several servers at once" };
const serviceOf = (model) => model.service ?? "all";

const sameName = (choice, name) => (choice.group ?? choice) === name;
const isOn = (row, server) => choicesOf(row).some((choice) => sameName(choice, server.name));

// choicesOf returns the servers of a class: names, or a number of servers of a row, { group, choose }. A gang always has numbers.
const choicesOf = (row) => row.servers ?? Object.entries(row.needs).map(([group, choose]) => ({ group, choose }));
const withChoices = (model, choices) => (serviceOf(model) === "gang" ? { needs: Object.fromEntries(choices.map(({ group, choose }) => [group, choose])) } : { servers: choices });

// choiceOf returns the choice of some servers of a row. By default a job that runs on one server may take any of the row.
function choiceOf(model, server, choose = serviceOf(model) === "one" ? server.count ?? 1 : 1) {
  const most = server.count ?? 1;
  return most > 1 || serviceOf(model) === "gang" ? { group: server.name, choose: Math.min(choose, most) } : server.name;
}

// serve gives a model another service, and changes what that service does not allow.
function serve(model, service) {
  const { service: _, mean_patience, patience, ...rest } = model;
  const served = { ...(service !== "all" && { service }), ...rest, ...(service === "one" && { mean_patience, patience }) };
  const usable = (capacity = "1") => (service === "one" && !(parseNumber(capacity) > 0) ? "1" : capacity);
  served.servers = model.servers.map(({ capacity, ...row }) => (service === "gang" ? row : { ...row, capacity: usable(capacity) }));
  const serverOf = (choice) => served.servers.find(({ name }) => sameName(choice, name));
  const choices = (row) => {
    if (service !== "gang") return choicesOf(row).map((choice) => choiceOf(served, serverOf(choice), row.needs ? Infinity : choice.choose));
    return serviceOf(model) === "one" ? [choiceOf(served, serverOf(row.servers[0]))] : row.servers.map((choice) => choiceOf(served, serverOf(choice), choice.choose));
  };
  served.classes = model.classes.map((row) => {
    const { servers: _, needs, mean_patience, patience, priority, ...others } = row;
    return { ...others, ...withChoices(served, choices(row)), ...(service === "one" && { mean_patience, patience, priority }) };
  });
  return served;
}

// patienceOf returns the mean patience of a class, "" if its jobs never give up, and givesUp whether jobs of any class do.
const patienceOf = (model, row) => row.mean_patience ?? model.mean_patience ?? "";
const distributionOf = (model, row) => (row.mean_patience ? row.patience : model.patience) ?? "exponential";
const givesUp = (model) => model.classes.some((row) => patienceOf(model, row) !== "");

// setPatience sets the mean patience of a class and its distribution, and setPatienceOfAll those of all classes; "" for jobs that
// never give up.
function setPatience(model, name, mean, distribution) {
  const { mean_patience: _, patience: __, ...rest } = model;
  const own = (row) => (row.name === name ? mean : patienceOf(model, row));
  const how = (row) => (row.name === name && distribution ? distribution : distributionOf(model, row));
  return { ...rest, classes: model.classes.map((row) => ({ ...row, mean_patience: own(row) || undefined, patience: own(row) && how(row) !== "exponential" ? how(row) : undefined })) };
}

function setPatienceOfAll(model, mean) {
  const { mean_patience: _, patience, ...rest } = model;
  return { ...rest, ...(mean && { mean_patience: mean, patience }), classes: model.classes.map((row) => ({ ...row, mean_patience: undefined, patience: undefined })) };
}

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
  return { ...model, servers: [...model.servers, serviceOf(model) === "gang" ? { name } : { name, capacity: "1" }] };
}

// addClass adds a class on the named server, otherwise on the first one.
function addClass(model, serverName) {
  const server = model.servers.find((row) => row.name === serverName) ?? model.servers[0];
  const name = newName(model.classes, "class");
  return { ...model, classes: [...model.classes, { name, arrival_rate: "0.1", ...withChoices(model, [choiceOf(model, server)]) }] };
}

function removeClass(model, name) {
  if (model.classes.length === 1) return "A model needs at least one class.";
  return { ...model, classes: model.classes.filter((row) => row.name !== name) };
}

function removeServer(model, name) {
  if (model.servers.length === 1) return "A model needs at least one server.";
  const alone = model.classes.find((row) => choicesOf(row).length === 1 && sameName(choicesOf(row)[0], name));
  if (alone) return `${alone.name} runs on ${name} only: connect it elsewhere first.`;
  return {
    ...model,
    servers: model.servers.filter((row) => row.name !== name),
    classes: model.classes.map((row) => ({ ...row, ...withChoices(model, choicesOf(row).filter((choice) => !sameName(choice, name))) })),
  };
}

// connect connects a class and a server, or disconnects them if they are connected.
function connect(model, className, serverName) {
  const row = model.classes.find(({ name }) => name === className);
  const server = model.servers.find(({ name }) => name === serverName);
  if (!isOn(row, server)) {
    const order = (choice) => model.servers.findIndex(({ name }) => sameName(choice, name));
    const choices = [...choicesOf(row), choiceOf(model, server)].sort((a, b) => order(a) - order(b));
    return withRow(model, "classes", className, withChoices(model, choices));
  }
  if (choicesOf(row).length === 1) return `${className} runs on ${serverName} only: connect it elsewhere first.`;
  return withRow(model, "classes", className, withChoices(model, choicesOf(row).filter((choice) => !sameName(choice, serverName))));
}

// choose sets how many servers of a row a class draws or holds.
function choose(model, className, server, count) {
  const row = model.classes.find(({ name }) => name === className);
  const choices = choicesOf(row).map((choice) => (sameName(choice, server.name) ? choiceOf(model, server, count) : choice));
  return withRow(model, "classes", className, withChoices(model, choices));
}

function rename(model, rows, from, to) {
  if (to === "" || model[rows].some((row) => row.name === to)) return `Choose another name: ${to === "" ? "this one is empty" : `${to} exists already`}.`;
  const renamed = withRow(model, rows, from, { name: to });
  if (rows === "classes") return renamed;
  const choices = (list) => list.map((choice) => (!sameName(choice, from) ? choice : choice.group ? { ...choice, group: to } : to));
  return { ...renamed, classes: renamed.classes.map((row) => ({ ...row, ...withChoices(model, choices(choicesOf(row))) })) };
}

// count makes a row of servers a group of the given size, or a single server. A job that may take any server of the row still may.
function count(model, name, size) {
  const before = model.servers.find((row) => row.name === name).count ?? 1;
  const counted = withRow(model, "servers", name, { count: size > 1 ? size : undefined });
  const server = counted.servers.find((row) => row.name === name);
  const chosen = (choose = before) => (serviceOf(model) === "one" && choose === before ? size : choose);
  const amount = (choice) => (serviceOf(model) === "all" && !choice.group ? 1 : chosen(choice.choose));
  const choices = (list) => list.map((choice) => (sameName(choice, name) ? choiceOf(model, server, amount(choice)) : choice));
  return { ...counted, classes: counted.classes.map((row) => ({ ...row, ...withChoices(model, choices(choicesOf(row))) })) };
}
