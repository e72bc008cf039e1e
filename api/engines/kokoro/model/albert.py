"""ALBERT: one layer, applied twelve times, reads the phonemes in their context."""

import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from api.engines.kokoro.model.config import AlbertShape
from api.engines.kokoro.model.spans import Spans


class Albert(nn.Module):
    def __init__(self, vocabulary: int, shape: AlbertShape) -> None:
        super().__init__()
        self.repeats = shape.num_hidden_layers
        self.embeddings = Embeddings(vocabulary, shape)
        self.widen = nn.Linear(shape.embedding_size, shape.hidden_size)
        self.layer = AlbertLayer(shape)

    def forward(self, ids: Tensor, spans: Spans) -> Tensor:
        """[batch, time] to [batch, time, hidden]; what stands in the padding means nothing."""
        seen = None if spans.full else spans.real[:, None, None]
        x: Tensor = self.widen(self.embeddings(ids))
        for _ in range(self.repeats):
            x = self.layer(x, seen)
        return x


class Embeddings(nn.Module):
    def __init__(self, vocabulary: int, shape: AlbertShape) -> None:
        super().__init__()
        self.word_embeddings = nn.Embedding(vocabulary, shape.embedding_size)
        self.position_embeddings = nn.Embedding(shape.max_position_embeddings, shape.embedding_size)
        self.token_type_embeddings = nn.Embedding(shape.type_vocab_size, shape.embedding_size)
        self.LayerNorm = nn.LayerNorm(shape.embedding_size, eps=shape.layer_norm_eps)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.word_embeddings(ids) + self.token_type_embeddings.weight[0]
        normed: Tensor = self.LayerNorm(x + self.position_embeddings.weight[: ids.shape[1]])
        return normed


class AlbertLayer(nn.Module):
    def __init__(self, shape: AlbertShape) -> None:
        super().__init__()
        self.attention = Attention(shape)
        self.ffn = nn.Linear(shape.hidden_size, shape.intermediate_size)
        self.ffn_output = nn.Linear(shape.intermediate_size, shape.hidden_size)
        self.full_layer_layer_norm = nn.LayerNorm(shape.hidden_size, eps=shape.layer_norm_eps)

    def forward(self, x: Tensor, seen: Tensor | None) -> Tensor:
        x = self.attention(x, seen)
        inner = F.gelu(self.ffn(x), approximate="tanh")
        normed: Tensor = self.full_layer_layer_norm(self.ffn_output(inner) + x)
        return normed


class Attention(nn.Module):
    def __init__(self, shape: AlbertShape) -> None:
        super().__init__()
        self.heads = shape.num_attention_heads
        self.query, self.key, self.value, self.dense = (
            nn.Linear(shape.hidden_size, shape.hidden_size) for _ in range(4)
        )
        self.LayerNorm = nn.LayerNorm(shape.hidden_size, eps=shape.layer_norm_eps)

    def forward(self, x: Tensor, seen: Tensor | None) -> Tensor:
        query, key, value = (
            part(x).unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in (self.query, self.key, self.value)
        )
        heard = F.scaled_dot_product_attention(query, key, value, attn_mask=seen)
        normed: Tensor = self.LayerNorm(x + self.dense(heard.transpose(1, 2).flatten(2)))
        return normed
