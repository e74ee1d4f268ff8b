/* Search in pages that were opened as files. Browsers start no worker from file://, so this one runs the worker's script in a hidden frame. */
if (window.location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      this.waiting = [];
      const start = () => {
        const frame = document.createElement("iframe");
        frame.hidden = true;
        frame.title = "Search";
        document.body.append(frame);
        const inside = frame.contentWindow;
        inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
        inside.importScripts = (...scripts) =>
          scripts.reduce((before, script) => before.then(() => this.load(inside, script)), Promise.resolve());
        this.load(inside, address).then(() => {
          this.inside = inside;
          this.waiting.forEach((data) => this.postMessage(data));
        });
      };
      if (document.body) start();
      else document.addEventListener("DOMContentLoaded", start);
    }

    load(inside, address) {
      return new Promise((resolve, reject) => {
        const script = inside.document.createElement("script");
        script.src = new URL(address, window.location).href;
        script.onload = resolve;
        script.onerror = reject;
        inside.document.head.append(script);
      });
    }

    postMessage(data) {
      if (this.inside) this.inside.dispatchEvent(new MessageEvent("message", { data }));
      else this.waiting.push(data);
    }

    terminate() {}
  };
}
