// The drawing functions of the page: h describes elements, and patch makes the page match the description.

const svgNamespace = "http://www.w3.org/2000/svg";

// h describes an element. Attributes: key identifies siblings from one drawing to the next, on has the handlers of events, value,
// checked and open are properties; null and false mean none. Children may be lists, texts, numbers; null and false are ignored.
function h(tag, attributes, ...children) {
  return { tag, attributes: attributes || {}, children };
}

// patch gives a node the described children. It keeps nodes that stay the same, with their focus.
function patch(parent, ...described) {
  const list = described.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
  const keyed = new Map();
  for (let node = parent.firstChild; node; node = node.nextSibling) {
    if (node.key !== undefined) keyed.set(node.key, node);
  }
  if (keyed.size > 0) {
    const keys = new Set(list.map((child) => child.attributes?.key));
    for (const [key, node] of keyed) if (!keys.has(key)) node.remove();
  }
  let at = parent.firstChild;
  for (const child of list) {
    if (!child.tag) {
      const text = String(child);
      if (at?.nodeType === Node.TEXT_NODE) {
        if (at.data !== text) at.data = text;
        at = at.nextSibling;
      } else {
        parent.insertBefore(document.createTextNode(text), at);
      }
      continue;
    }
    const { key } = child.attributes;
    let node = key === undefined ? at : keyed.get(key);
    if (node?.tag !== child.tag || node.key !== key) {
      node = child.tag === "svg" || parent.namespaceURI === svgNamespace ? document.createElementNS(svgNamespace, child.tag) : document.createElement(child.tag);
      Object.assign(node, { key, tag: child.tag });
    }
    if (node === at) at = at.nextSibling;
    else parent.insertBefore(node, at);
    setAttributes(node, child.attributes);
    patch(node, child.children);
    if (child.tag === "select") node.value = child.attributes.value; // its options are there now
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}

const properties = new Set(["value", "checked", "disabled", "readOnly", "indeterminate"]);

function setAttributes(node, attributes) {
  const before = node.described ?? {};
  for (const name in before) if (!(name in attributes)) setOne(node, name, undefined, before[name]);
  for (const name in attributes) setOne(node, name, attributes[name], before[name]);
  node.described = attributes;
}

function setOne(node, name, value, before) {
  if (name === "on") setHandlers(node, value ?? {});
  else if (properties.has(name)) {
    if (node[name] !== (value ?? "")) node[name] = value ?? "";
  } else if (value === before || name === "key") return;
  else if (value === null || value === undefined || value === false) node.removeAttribute(name);
  else node.setAttribute(name, value === true ? "" : value);
}

function setHandlers(node, handlers) {
  node.handlers = node.handlers || {};
  for (const type of Object.keys(node.handlers)) node.handlers[type] = null;
  for (const [type, handler] of Object.entries(handlers)) {
    if (!(type in node.handlers)) node.addEventListener(type, (event) => node.handlers[type]?.(event));
    node.handlers[type] = handler;
  }
}
